#include "report/xml_text.h"

#include <gtest/gtest.h>

namespace ncclog {
namespace {

TEST(XmlText, HostileBytesStayText) {
  struct Row {
    const char* bytes;
    const char* content;
    const char* attribute;
  };
  const Row kRows[] = {
      {"plain", "plain", "plain"},
      {"<script>&\"'", "&lt;script&gt;&amp;&quot;'", "&lt;script&gt;&amp;&quot;'"},
      {"x]]>y", "x]]&gt;y", "x]]&gt;y"},
      {"\x1b[31m\x01", "\\x1b[31m\\x01", "\\x1b[31m\\x01"},
      {"a\xff", "a\uFFFD", "a\uFFFD"},
      {"\xef\xbf\xbf\xef\xbf\xbe|", "\uFFFD\uFFFD|", "\uFFFD\uFFFD|"},
      {"\u202eright", "\\u{202e}right", "\\u{202e}right"},
      {"two\nlines", "two\nlines", "two\\x0alines"},
  };
  for (const Row& row : kRows) {
    EXPECT_EQ(xml_content(row.bytes), row.content);
    EXPECT_EQ(xml_attribute(row.bytes), row.attribute);
  }
}

}  // namespace
}  // namespace ncclog
