// Goal: the XML of requests is parsed correctly, hostile XML is refused at little cost, and written
// XML is read back as the same text.
#include "http/xml_document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/site_error.h"
#include "tests/must.h"

namespace gridmount::http {
namespace {

using ::testing::SizeIs;

ErrorCode error_in(const std::string& text) {
  const auto parsed = parse_xml(text);
  EXPECT_FALSE(parsed) << text.substr(0, 100);
  return parsed ? ErrorCode{0} : parsed.error().code();
}

TEST(XmlDocument, NamesTextsAndChildren_AreFound) {
  const XmlElement root =
      must(parse_xml("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
                     "<D:a xmlns:D=\"DAV:\" xmlns=\"urn:x\"><b c=\"d\">x&lt;&#233;</b><D:e/>"
                     "<f xmlns=\"\"><![CDATA[<&]]></f><!-- g --></D:a>"));
  EXPECT_TRUE(root.name.is_dav("a"));
  ASSERT_THAT(root.children, SizeIs(3));
  EXPECT_EQ(root.children[0].name, (XmlName{"urn:x", "b"}));
  EXPECT_EQ(root.children[0].text, "x<\u00e9");
  EXPECT_EQ(root.child("e"), &root.children[1]);
  EXPECT_EQ(root.child("b"), nullptr);
  EXPECT_EQ(root.children[2].name, (XmlName{"", "f"}));
  EXPECT_EQ(root.children[2].text, "<&");
}

TEST(XmlDocument, OtherEncodings_BecomeUtf8) {
  EXPECT_EQ(must(parse_xml("<?xml version=\"1.0\" encoding=\"iso-8859-1\"?><a>\xE9</a>")).text,
            "\u00e9");
  EXPECT_EQ(error_in("<?xml version=\"1.0\" encoding=\"unknown\"?><a/>"), ErrorCode::kBadValue);
}

TEST(XmlDocument, WhatIsNotWellFormed_IsRefused) {
  for (const char* text :
       {"", " ", "<a>", "<a></b>", "<a/><b/>", "a", "<p:a/>", "<a>&b;</a>", "<a b=\"1\" b=\"2\"/>",
        "<a>\xFF</a>", "<a>&#0;</a>", "<a xmlns:b=\"\"/>", "<xmlns:a/>"}) {
    EXPECT_EQ(error_in(text), ErrorCode::kBadValue) << text;
  }
}

TEST(XmlDocument, DocumentTypes_AreRefused) {
  std::string bomb = "<?xml version=\"1.0\"?><!DOCTYPE a [<!ENTITY l0 \"lol\">";
  for (int i = 1; i < 10; ++i) {
    bomb += "<!ENTITY l" + std::to_string(i) + " \"";
    for (int j = 0; j < 10; ++j) bomb += "&l" + std::to_string(i - 1) + ";";
    bomb += "\">";
  }
  EXPECT_EQ(error_in(bomb + "]><a>&l9;</a>"), ErrorCode::kBadValue);
  EXPECT_EQ(error_in("<!DOCTYPE a [<!ENTITY b SYSTEM \"file:///etc/passwd\">]><a>&b;</a>"),
            ErrorCode::kBadValue);
  EXPECT_EQ(error_in("<!DOCTYPE a SYSTEM \"http://localhost/a.dtd\"><a/>"), ErrorCode::kBadValue);
}

TEST(XmlDocument, BeyondTheLimits_IsRefused) {
  const auto nested = [](size_t depth) {
    std::string text;
    for (size_t i = 0; i < depth; ++i) text += "<a>";
    for (size_t i = 0; i < depth; ++i) text += "</a>";
    return text;
  };
  EXPECT_TRUE(parse_xml(nested(kXmlDepthMax)));
  EXPECT_EQ(error_in(nested(kXmlDepthMax + 1)), kXmlTooLarge);
  std::string many = "<a>";
  for (size_t i = 1; i < kXmlElementsMax; ++i) many += "<b/>";
  EXPECT_TRUE(parse_xml(many + "</a>"));
  EXPECT_EQ(error_in(many + "<b/></a>"), kXmlTooLarge);
  const std::string around = "<a></a>";
  const std::string longest = "<a>" + std::string(kXmlBytesMax - around.size(), 'x') + "</a>";
  EXPECT_TRUE(parse_xml(longest));
  EXPECT_EQ(error_in(longest + " "), kXmlTooLarge);
}

TEST(XmlDocument, EscapedTexts_AreReadBack) {
  const std::string text = "a<b>&\"'\t\r\n]]>\u00e9 ";
  const XmlName name{"urn:\"<&>", "n"};
  const XmlElement root = must(parse_xml(xml_element(name, xml_text(text))));
  EXPECT_EQ(root.text, text);
  EXPECT_EQ(root.name, name);
  EXPECT_EQ(xml_text(std::string("\x01\xFF\0", 3)), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(xml_text("\uFFFE\uFFFF"), "\uFFFD\uFFFD");
  EXPECT_EQ(xml_element({"", "n"}, ""), "<n xmlns=\"\"/>");
  EXPECT_EQ(xml_element({"http://www.w3.org/XML/1998/namespace", "n"}, ""), "<xml:n/>");
}

// Each name would have a copy of the namespace that the document has once.
TEST(XmlDocument, LongNamespaceOfManyElements_IsRefused) {
  std::string text = "<a xmlns=\"" + std::string(40'000, 'u') + "\">";
  for (int i = 0; i < 1500; ++i) text += "<b/>";
  const Result<XmlElement> parsed = parse_xml(text + "</a>");
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().code(), kXmlTooLarge);
}

}  // namespace
}  // namespace gridmount::http
