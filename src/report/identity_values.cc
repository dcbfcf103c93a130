#include "report/identity_values.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "report/address_map.h"
#include "report/identity_keys.h"
#include "report/known_names.h"

namespace ncclog {
namespace {

constexpr size_t kNone = std::string_view::npos;

bool is_token_char(char c) { return is_mail_char(c) || c == '/' || c == '=' || c == '~'; }
bool is_quote(char c) { return c == '"' || c == '\''; }
bool is_host_char(char c) { return is_label_char(c) || c == '.'; }
bool ends_authority(char c) {
  return c == '/' || c == '`' || is_quote(c) || static_cast<unsigned char>(c) <= ' ';
}

/// "none", "true", "default": the value of a key that has none.
bool is_no_value(std::string_view value) {
  constexpr std::string_view kNothing[] = {"none",  "null",   "true",   "false", "default",
                                           "unset", "static", "etcd",   "c10d",  "etcd-v2",
                                           "nil",   "n/a",    "bearer", "basic"};
  constexpr size_t kLongest = 8;
  if (value.size() > kLongest) return false;
  const std::string word = lower_case(value);
  return std::find(std::begin(kNothing), std::end(kNothing), word) != std::end(kNothing);
}

/// The end of the run at `begin`, which is walked through once only.
template <typename Is>
size_t walk(const IdentityCursor& in, WalkedRun& walked, size_t begin, Is&& is) {
  if (begin < walked.begin || begin >= walked.end) walked = {begin, in.long_run_end(begin, is)};
  return walked.end;
}

// URLs.

bool is_bucket_scheme(std::string_view scheme) {
  constexpr std::string_view kBuckets[] = {"s3",   "gs",    "gcs", "hdfs",
                                           "abfs", "abfss", "oss", "wandb"};
  return std::find(std::begin(kBuckets), std::end(kBuckets), scheme) != std::end(kBuckets);
}

/// "alice" or "alice:password" before '@'.
void take_login(IdentityCursor& in, size_t begin, size_t end) {
  const size_t user_end = begin + std::min(in.slice(begin, end).find(':'), end - begin);
  in.add_user(begin, user_end);
  if (user_end < end) in.add(IdentityKind::Secret, user_end + 1, end);
}

/// Takes the login of the authority at `begin`; where its host begins.
size_t take_authority(IdentityCursor& in, size_t begin) {
  // A password is any text, '!' and '@' too.
  const size_t end = in.long_run_end(begin, [](char c) { return !ends_authority(c); });
  const size_t sign = in.slice(begin, end).rfind('@');
  if (sign == kNone) return begin;
  take_login(in, begin, begin + sign);
  return begin + sign + 1;
}

bool take_url(IdentityCursor& in) {
  const size_t scheme = in.run_end(in.at, [](char c) { return is_alnum(c) || c == '+'; });
  if (in.rest(scheme).substr(0, 3) != "://") return false;
  const bool is_bucket = is_bucket_scheme(in.slice(in.at, scheme));
  const size_t begin = take_authority(in, scheme + 3);
  in.at = begin;
  const size_t host_end = in.run_end(begin, is_mail_char);
  const std::string_view host = in.slice(begin, host_end);
  const bool is_public = is_public_domain(host);
  if (is_bucket) {
    in.add(IdentityKind::Name, begin, host_end);
  } else if (parse_address_bits(host)) {
    in.add(IdentityKind::Address, begin, host_end);
  } else if (!is_public && !is_no_value(host)) {
    in.add_host(begin, host_end);
  }
  if (is_public) in.at = host_end;
  const size_t slash = in.run_end(host_end, [](char c) { return is_digit(c) || c == ':'; });
  if (in.peek(slash) != '/') return true;
  if (is_public) {
    in.at = in.long_run_end(slash, [](char c) { return !ends_value(c); });
  } else {
    in.add_path(slash);
  }
  return true;
}

// Tokens.

bool take_token(IdentityCursor& in, WalkedRun& walked) {
  if (in.prev(in.at) == '_' || in.prev(in.at) == '-') return false;
  constexpr size_t kShortest = 16;
  const std::string_view next = in.rest(in.at);
  const bool announced = next.starts_with("Bearer ") || next.starts_with("bearer ");
  if (!announced && !is_token_prefix(next)) return false;
  const size_t begin = announced ? in.at + 7 : in.at;
  // What lacks a digit or is too short does so from every later beginning, too.
  if (begin >= walked.begin && begin < walked.end) return false;
  const size_t end = walk(in, walked, begin, is_token_char);
  const std::string_view token = in.slice(begin, end);
  return token.size() >= kShortest && std::any_of(token.begin(), token.end(), is_digit) &&
         in.add(IdentityKind::Secret, begin, end);
}

// Keys.

/// Where the value of the name that ends at `end` begins, or its quote; kNone: none follows.
size_t value_begin(const IdentityCursor& in, size_t end, const IdentityKey& key) {
  constexpr std::string_view kNcclSays = " set by environment to ";
  if (in.rest(end).starts_with(kNcclSays)) return end + kNcclSays.size();
  const size_t name_end = in.run_end(end, [](char c) { return is_quote(c) || c == '\\'; });
  const size_t separator = in.run_end(name_end, is_blank);
  const char sign = in.peek(separator);
  const bool is_flag = in.at >= 2 && in.text.substr(in.at - 2, 2) == "--";
  if (sign == '=' || (sign == ':' && !key.needs_equals)) return in.run_end(separator + 1, is_blank);
  return (is_flag || key.by_blank) && separator > end ? separator : kNone;
}

bool is_auth_scheme(std::string_view word) {
  constexpr size_t kLongest = 6;
  if (word.size() > kLongest) return false;
  const std::string name = lower_case(word);
  return name == "basic" || name == "token" || name == "bearer";
}

/// What stands for a secret elsewhere: "$TOKEN", "${TOKEN}", "<token>", "{{ token }}".
bool is_placeholder(std::string_view value, char next, bool is_quoted) {
  const auto is_variable = [](char c) { return is_digit(c) || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto closes = [&](char sign) { return is_quoted ? value.back() == sign : next == sign; };
  if (value.starts_with('{')) return !is_quoted || closes('}');
  if (value.starts_with('<')) return closes('>');
  if (!value.starts_with('$')) return false;
  const std::string_view name = value.substr(1);
  return name.empty() || name[0] == '{' || name[0] == '(' ||
         (!is_digit(name[0]) && std::all_of(name.begin(), name.end(), is_variable));
}

/// Where the secret behind the quote at `quote` ends; kNone if no such quote closes on the line.
size_t quoted_end(const IdentityCursor& in, size_t quote) {
  const char sign = in.text[quote];
  // In a quoted text that is quoted itself: \"password\": \"…\".
  const bool is_nested = in.prev(quote) == '\\';
  for (size_t end = quote + 1; end < in.text.size() && in.text[end] != '\n'; ++end) {
    if (in.text[end] == '\\' && !is_nested) {
      ++end;
    } else if (in.text[end] == sign) {
      while (is_nested && end > quote + 1 && in.text[end - 1] == '\\') --end;
      return end;
    }
  }
  return kNone;
}

struct Secret {
  size_t begin;
  size_t end;
  bool is_quoted;
};

/// The secret at `begin`, which may be a quote.
Secret secret_at(const IdentityCursor& in, WalkedRun& walked, size_t begin) {
  begin = in.run_end(begin, [](char c) { return c == '\\'; });
  if (is_quote(in.peek(begin))) {
    const size_t end = quoted_end(in, begin);
    ++begin;
    if (end != kNone) return {begin, end, true};
  }
  return {begin, walk(in, walked, begin, [](char c) { return !ends_value(c); }), false};
}

/// Behind "Authorization": the word behind the scheme, of any length.
bool take_credentials(IdentityCursor& in, const Secret& secret) {
  const size_t scheme = in.run_end(secret.begin, is_alpha);
  const size_t begin = in.run_end(scheme, is_blank);
  if (!is_auth_scheme(in.slice(secret.begin, scheme)) || begin == scheme) return false;
  const size_t end = secret.is_quoted
                         ? std::max(begin, secret.end)
                         : in.long_run_end(begin, [](char c) { return !ends_value(c); });
  const std::string_view value = in.slice(begin, end);
  return !value.empty() && !is_no_value(value) &&
         !is_placeholder(value, in.peek(end), secret.is_quoted) &&
         in.add(IdentityKind::Secret, begin, end);
}

bool take_secret(IdentityCursor& in, WalkedRun& walked, const IdentityKey& key, size_t begin) {
  constexpr size_t kShortest = 6;
  const Secret secret = secret_at(in, walked, begin);
  const std::string_view value = in.slice(secret.begin, secret.end);
  if (value.empty() || value[0] == '/') return false;
  if (key.has_scheme && take_credentials(in, secret)) return true;
  if (value.size() < kShortest || is_no_value(value)) return false;
  if (is_placeholder(value, in.peek(secret.end), secret.is_quoted)) return false;
  // The "token" of "eos_token" is asked about once more, on its own.
  const bool may_be_number = key.may_be_number && in.prev(in.at) != '_' && in.prev(in.at) != '-';
  if (!may_be_number && is_number(value)) return false;
  return in.add(IdentityKind::Secret, secret.begin, secret.end);
}

bool take_lid(IdentityCursor& in, size_t begin) {
  const size_t end = in.run_end(begin, is_digit);
  return end > begin && !is_word(in.peek(end)) && in.add(IdentityKind::Lid, begin, end);
}

bool take_guid(IdentityCursor& in, size_t begin) {
  if (in.rest(begin).starts_with("0x")) begin += 2;
  const size_t end = in.run_end(begin, [](char c) { return is_hex_digit(c) || c == ':'; });
  constexpr size_t kShortest = 8;
  return end - begin >= kShortest && !is_word(in.peek(end)) &&
         in.add(IdentityKind::Guid, begin, end);
}

bool take_host(IdentityCursor& in, size_t begin, size_t end) {
  const size_t name_end = in.run_end(begin, is_host_char);
  const std::string_view name = in.slice(begin, name_end);
  if (name_end > end || parse_address_bits(name) || is_number(name)) return false;
  return in.add_host(begin, name_end);
}

/// "gpu-n[41-48,50]" or "gpu-n41,login1". Neither has a '=' or ':' in it, so runs share no byte.
bool take_hosts(IdentityCursor& in, size_t begin, size_t end) {
  const size_t searched = std::min(end - begin, IdentityCursor::kLongestRun);
  if (in.text.substr(begin, searched).find('[') != kNone) {
    end = in.long_run_end(begin, [](char c) {
      return is_name_char(c) || c == '[' || c == ']' || c == ',' || c == '.';
    });
    return in.add(IdentityKind::Name, begin, end);
  }
  bool any = false;
  end = in.long_run_end(begin, [](char c) { return is_name_char(c) || c == ',' || c == '.'; });
  while (begin < end) {
    const size_t host_end = begin + std::min(in.slice(begin, end).find(','), end - begin);
    any |= !parse_address_bits(in.slice(begin, host_end)) && in.add_host(begin, host_end);
    begin = host_end + 1;
  }
  return any;
}

bool take_keyed(IdentityCursor& in, WalkedRun& walked) {
  const auto key = identity_key(in.slice(in.at, in.run_end(in.at, is_name_char)));
  if (!key) return false;
  size_t begin = value_begin(in, in.run_end(in.at, is_name_char), *key);
  if (begin == kNone) return false;
  if (key->kind == IdentityKind::Secret) return take_secret(in, walked, *key, begin);
  begin = in.run_end(begin, [](char c) { return is_quote(c) || c == '\\'; });
  if (std::string_view("$<{").find(in.peek(begin)) != kNone) return false;
  const size_t end = walk(in, walked, begin, [](char c) { return !ends_value(c); });
  if (end == begin || is_no_value(in.slice(begin, end))) return false;
  switch (key->kind) {
    case IdentityKind::Lid:
      return take_lid(in, begin);
    case IdentityKind::Guid:
      return take_guid(in, begin);
    case IdentityKind::Host:
      return key->is_list ? take_hosts(in, begin, end) : take_host(in, begin, end);
    default:
      return in.add_name(key->kind, begin, end);
  }
}

}  // namespace

bool take_announced(IdentityCursor& in, WalkedRuns& walked) {
  return take_url(in) || take_token(in, walked.tokens) || take_keyed(in, walked.values);
}

}  // namespace ncclog
