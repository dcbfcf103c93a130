// {fmt} as a library, for the static executable: Debian packages no archive of it.
//
// Its templates are declared in the headers and defined in format-inl.h; what is named here is all
// that programs link against.

#include <fmt/format-inl.h>

namespace fmt {
inline namespace v9 {
namespace detail {

template dragonbox::decimal_fp<float> dragonbox::to_decimal(float value) noexcept;
template dragonbox::decimal_fp<double> dragonbox::to_decimal(double value) noexcept;
template locale_ref::locale_ref(const std::locale& locale);
template std::locale locale_ref::get<std::locale>() const;
template thousands_sep_result<char> thousands_sep_impl(locale_ref locale);
template char decimal_point_impl(locale_ref locale);
template void buffer<char>::append(const char* begin, const char* end);
template void vformat_to(buffer<char>& out, string_view format,
                         basic_format_args<buffer_context<char>> arguments, locale_ref locale);

}  // namespace detail
}  // namespace v9
}  // namespace fmt
