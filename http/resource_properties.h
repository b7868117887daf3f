// The properties of files and directories that WebDAV has: which of them a request asks for, and
// the XML that describes them. Sources: RFC 4918, 9.1, 14 and 15; RFC 4331 for the quotas.
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

// A request may ask for so many properties by name. The XML of their names is at most
// kPropertyNamesBytesMax long, so this bounds the reply about one resource.
inline constexpr size_t kPropertyNamesMax = 256;
inline constexpr size_t kPropertyNamesBytesMax = size_t{64} * 1024;

// What the properties say about one resource. A field is unset if the resource has no such
// property.
struct Resource {
  std::string href;  // the encoded path, of a directory with a slash at the end
  std::string name;  // "" for the root of the tree
  bool is_directory = false;
  std::optional<int64_t> bytes = {};
  std::optional<int64_t> modified_seconds = {};  // since 1970
  std::optional<int64_t> created_seconds = {};   // since 1970
  std::optional<std::string> tag = {};           // entity_tag()
  std::optional<std::string> media_type = {};
  std::optional<std::string> locks = {};        // XML; set if the resource can be locked
  std::optional<int64_t> bytes_available = {};  // that can still be written
  std::optional<int64_t> bytes_used = {};
};

struct PropertyRequest {
  enum class Form {
    kAll,       // all properties but the quotas, and those with `names`
    kNames,     // the names of all properties
    kSelected,  // those with `names`
  };
  Form form = Form::kAll;
  std::vector<XmlName> names;

  // Returns true if the reply has the values of one of these properties. `dav_names` are names in
  // the namespace "DAV:". `is_of_all`: they are among those of kAll.
  bool wants(std::initializer_list<std::string_view> dav_names, bool is_of_all) const;
};

// Parses the body of a PROPFIND. An empty body asks for all properties. Fails as parse_xml() does,
// with BadValue if the XML is no `propfind`, and with XmlTooLarge for too many names.
Result<PropertyRequest> parse_propfind(std::string_view body);

// A property that a client wants to set or, without a value, to remove.
struct PropertyChange {
  XmlName name;
  std::optional<std::string> value;  // text
};
// Parses the body of a PROPPATCH. Fails as parse_propfind() does.
Result<std::vector<PropertyChange>> parse_proppatch(std::string_view body);

// Returns the element `response` about the resource, of the form that is asked for. Properties that
// the resource does not have get the status 404 if they are asked for by name.
std::string response_of(const Resource& resource, const PropertyRequest& wanted);

// Returns the element `propstat`: the XML of properties, and what became of them.
std::string propstat(std::string_view properties, int status);

}  // namespace gridmount::http
