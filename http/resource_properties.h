// The properties that WebDAV has for files and directories: the parsing of requests that ask for
// properties or change them, and the XML that describes the properties. Sources: RFC 4918, 9.1,
// 9.2, 14 and 15; RFC 4331 for the quotas.
//
// All properties are live: the server computes them.
//
// Thread-safe: plain values and pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "http/xml_document.h"

namespace gridmount::http {

// The limits for the properties that one request names: their number, and the bytes of their names
// as XML. These limits bound the reply about one resource.
inline constexpr size_t kPropertyNamesMax = 256;
inline constexpr size_t kPropertyNamesBytesMax = size_t{64} * 1024;

// The values of the properties of one resource, not encoded unless the field says so. A field is
// unset if the resource has no such property.
struct Resource {
  std::string href;  // the encoded path; that of a directory ends with a slash
  std::string name;  // "" for the root of the tree
  bool is_directory = false;
  std::optional<int64_t> bytes = {};             // the length of a file
  std::optional<int64_t> modified_seconds = {};  // since 1970
  std::optional<int64_t> created_seconds = {};   // since 1970
  std::optional<std::string> tag = {};           // the result of entity_tag()
  std::optional<std::string> media_type = {};
  std::optional<std::string> locks = {};  // the locks as XML; set if the resource can be locked
  std::optional<int64_t> bytes_available = {};  // how many bytes can still be written
  std::optional<int64_t> bytes_used = {};
};

struct PropertyRequest {
  enum class Form {
    kAll,       // all properties except the quotas, and also those in `names`
    kNames,     // the names of all properties that the resource has
    kSelected,  // those in `names`
  };
  Form form = Form::kAll;
  std::vector<XmlName> names;

  // Returns true if the reply has the value of at least one of these properties. `dav_names` are
  // the names of the properties in the namespace "DAV:". `is_of_all` says whether kAll includes
  // these properties.
  bool wants(std::initializer_list<std::string_view> dav_names, bool is_of_all) const;
};

// Parses the body of a PROPFIND. An empty body means kAll. Fails as parse_xml() does, with BadValue
// if the XML is not a valid `propfind`, and with XmlTooLarge for too many names.
Result<PropertyRequest> parse_propfind(std::string_view body);

// A property that a client wants to set, or to remove if there is no value.
struct PropertyChange {
  XmlName name;
  std::optional<std::string> value;  // the text of the element, not encoded
};
// Parses the body of a PROPPATCH. Returns the changes in the order of the body, at least one. Fails
// as parse_xml() does, also for an empty body, with BadValue if the XML is not a valid
// `propertyupdate` or changes nothing, and with XmlTooLarge for too many names.
Result<std::vector<PropertyChange>> parse_proppatch(std::string_view body);

// Returns the XML element `response` about the resource, in the form that `wanted` asks for. A
// property that `wanted` names, but that the resource does not have, gets the status 404. With
// kAll, this does not apply to the properties that kAll includes anyway.
std::string response_of(const Resource& resource, const PropertyRequest& wanted);

// Returns the XML element `propstat`, which says that all these properties have the HTTP status.
// `properties` is the XML of the properties.
std::string propstat(std::string_view properties, int status);

}  // namespace gridmount::http
