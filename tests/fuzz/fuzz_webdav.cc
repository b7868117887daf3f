// Goal: whatever clients of WebDAV send as XML and in the field If, nothing breaks, the limits
// hold, and the reply is XML again. Method: runs each parser on the same bytes, and checks its
// result.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "http/if_field.h"
#include "http/resource_properties.h"
#include "http/xml_document.h"

namespace gridmount::http {
namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

// The reply has the prefix D declared in its root.
Result<XmlElement> parse_within_reply(const std::string& xml) {
  return parse_xml("<D:multistatus xmlns:D=\"DAV:\">" + xml + "</D:multistatus>");
}

size_t check_tree(const XmlElement& element, size_t depth) {
  require(depth <= kXmlDepthMax);
  const std::string written = xml_element(element.name, xml_text(element.text));
  if (written.size() < kXmlBytesMax / 2) {
    const Result<XmlElement> again = parse_within_reply(written);
    require(again && again->children.size() == 1);
    require(again->children[0].name == element.name && again->children[0].text == element.text);
  }
  size_t elements = 1;
  for (const XmlElement& child : element.children) elements += check_tree(child, depth + 1);
  return elements;
}

void check_xml(std::string_view text) {
  const Result<XmlElement> root = parse_xml(text);
  if (root) require(check_tree(*root, 1) <= kXmlElementsMax);
  const Result<XmlElement> escaped =
      parse_xml("<a b=\"" + xml_text(text) + "\">" + xml_text(text) + "</a>");
  require(escaped || text.size() > kXmlBytesMax / 16);
}

void check_properties(std::string_view text) {
  (void)parse_proppatch(text);
  const Result<PropertyRequest> wanted = parse_propfind(text);
  if (!wanted) return;
  require(wanted->names.size() <= kPropertyNamesMax);
  Resource resource;
  resource.href = "/a";
  resource.name = std::string(text.substr(0, 100));
  resource.bytes = 1;
  resource.tag = "\"a\"";
  resource.locks = "";
  const std::string response = response_of(resource, *wanted);
  require(response.size() < 4 * kPropertyNamesBytesMax);
  if (response.size() < kXmlBytesMax / 2) require(parse_within_reply(response).has_value());
}

void check_if_field(std::string_view text) {
  const Result<std::vector<IfList>> lists = parse_if(text);
  if (!lists) return;
  size_t conditions = 0;
  for (const IfList& list : *lists) {
    require(!list.conditions.empty());
    conditions += list.conditions.size();
  }
  require(conditions <= kIfConditionsMax);
  const Result<bool> is_met =
      holds(*lists, [](const auto&) -> Result<ResourceState> { return ResourceState{}; });
  require(is_met.has_value());
  const std::vector<std::string> tokens = tokens_in(*lists);
  require(tokens.size() <= conditions);
}

}  // namespace
}  // namespace gridmount::http

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gridmount::http;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_xml(text);
  check_properties(text);
  check_if_field(text);
  return 0;
}
