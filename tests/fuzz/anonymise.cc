// No planted name survives in what is passed on, wherever it stands as a word.

#include "report/anonymise/anonymise.h"

#include <algorithm>

#include "base/text.h"
#include "fuzz/fuzz.h"
#include "log/known_messages.h"

namespace ncclog::fuzz {
namespace {

/// Lines that show whose names these are.
constexpr std::string_view kShown =
    "gpu-quokka41:313:314 [0] NCCL INFO NET/Socket : Using [0]eth0:10.77.3.9<0>\n"
    "ssh wallaby@gpu-quokka41 python /home/wallaby/thylacine-7b_v2/train.py --job-name=falcon-q7\n"
    "mail bandicoot@acmelabs-q.example\n"
    "WANDB_API_KEY=0123456789abcdef0123456789abcdef01234567\n";

constexpr std::string_view kPlanted[] = {"gpu-quokka41",
                                         "10.77.3.9",
                                         "wallaby",
                                         "thylacine-7b_v2",
                                         "falcon-q7",
                                         "bandicoot@acmelabs-q.example",
                                         "0123456789abcdef0123456789abcdef01234567"};

/// Bytes 1 to 7 stand for the planted names.
std::string planted(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    const auto number = static_cast<uint8_t>(c);
    if (number > 0 && number <= std::size(kPlanted))
      text += kPlanted[number - 1];
    else
      text += c;
  }
  return text;
}

/// The name stands there as a word of its own.
bool holds_word(std::string_view text, std::string_view word) {
  for (size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    const bool begins = at == 0 || !is_alnum(text[at - 1]);
    const size_t end = at + word.size();
    if (begins && (end == text.size() || !is_alnum(text[end]))) return true;
  }
  return false;
}

Anonymiser made_for(std::string_view log) {
  Identities identities;
  identities.set_ordinary_words(message_words());
  identities.add_host("gpu-quokka41");
  identities.read(log);
  return Anonymiser(std::move(identities));
}

}  // namespace

void fuzz_anonymise(std::string_view bytes) {
  const std::string log = std::string(kShown) + planted(bytes) + "\n";
  const Anonymiser anonymiser = made_for(log);
  const std::string text = anonymiser.text(log);
  for (const std::string_view name : kPlanted) {
    if (holds_word(text, name)) require_equal(text, "without " + std::string(name));
  }
}

}  // namespace ncclog::fuzz
