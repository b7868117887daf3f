// The XML of WebDAV: a parser of the bodies of requests, over expat, and the escaping of text.
// Sources: XML 1.0, Namespaces in XML 1.0; RFC 4918, 17 and 20.6.
//
// A document type declaration is refused. So a document cannot declare entities, and the parser
// expands no declared entities and loads nothing.
//
// Thread-safe: plain values and pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"

namespace gridmount::http {

// The limits for a document: its bytes, its depth and its elements. Documents beyond them are
// refused.
inline constexpr size_t kXmlBytesMax = size_t{64} * 1024;
inline constexpr size_t kXmlDepthMax = 32;
inline constexpr size_t kXmlElementsMax = 2000;
// The limit for the names of all elements together, each with its namespace.
inline constexpr size_t kXmlNameBytesMax = size_t{256} * 1024;

// The name of an element or a property: a URI, and a name within its namespace.
struct XmlName {
  std::string space;  // "" if the name belongs to no namespace
  std::string name;

  bool is_dav(std::string_view dav_name) const { return space == "DAV:" && name == dav_name; }
  friend bool operator==(const XmlName&, const XmlName&) = default;
};

struct XmlElement {
  XmlName name;
  // The text directly in the element, without that of its children. In UTF-8.
  std::string text;
  std::vector<XmlElement> children;  // attributes are not kept

  // Returns the first child with that name in the namespace "DAV:", or null.
  const XmlElement* child(std::string_view dav_name) const;
};

// Returns the root element. Fails with BadValue if the text is not well-formed or has a document
// type declaration, with XmlTooLarge (site_error.h) beyond the limits above, and with InternalError
// if there is no memory for a parser.
Result<XmlElement> parse_xml(std::string_view text);

// Returns the text escaped for content and for the value of an attribute in double quotes. Bytes
// that are not UTF-8, and characters that XML cannot have, become U+FFFD.
std::string xml_text(std::string_view text);

// Returns the element with the name and the content, which is XML already. The name must be one
// that parse_xml() has returned. The element must be placed where "D" is the prefix of the
// namespace "DAV:".
std::string xml_element(const XmlName& name, std::string_view content);

}  // namespace gridmount::http
