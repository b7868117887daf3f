#include "http/resource_properties.h"

#include <algorithm>
#include <array>
#include <utility>

#include "http/http_date.h"
#include "http/multi_status.h"
#include "http/site_error.h"

namespace gridmount::http {

namespace {

// A property of the namespace "DAV:".
struct Property {
  std::string_view name;
  bool is_of_all;  // PropertyRequest::Form::kAll includes it
  // Returns the content of the property as XML, or nothing if the resource does not have it.
  std::optional<std::string> (*content)(const Resource&);
};

std::optional<std::string> number(const std::optional<int64_t>& value) {
  return value ? std::optional(std::to_string(*value)) : std::nullopt;
}

std::optional<std::string> escaped(const std::optional<std::string>& text) {
  return text ? std::optional(xml_text(*text)) : std::nullopt;
}

std::string lock_entry(const std::string& scope) {
  return "<D:lockentry><D:lockscope>" + xml_element({"DAV:", scope}, "") +
         "</D:lockscope><D:locktype><D:write/></D:locktype></D:lockentry>";
}

constexpr std::array kProperties{
    Property{"creationdate", true,
             [](const Resource& resource) -> std::optional<std::string> {
               if (!resource.created_seconds) return std::nullopt;
               return iso_time(*resource.created_seconds * 1000);
             }},
    Property{"displayname", true,
             [](const Resource& resource) -> std::optional<std::string> {
               if (resource.name.empty()) return std::nullopt;
               return xml_text(resource.name);
             }},
    Property{"getcontentlength", true,
             [](const Resource& resource) { return number(resource.bytes); }},
    Property{"getcontenttype", true,
             [](const Resource& resource) { return escaped(resource.media_type); }},
    Property{"getetag", true, [](const Resource& resource) { return escaped(resource.tag); }},
    Property{"getlastmodified", true,
             [](const Resource& resource) -> std::optional<std::string> {
               if (!resource.modified_seconds) return std::nullopt;
               return http_date(*resource.modified_seconds);
             }},
    Property{"lockdiscovery", true, [](const Resource& resource) { return resource.locks; }},
    Property{"resourcetype", true,
             [](const Resource& resource) -> std::optional<std::string> {
               return resource.is_directory ? "<D:collection/>" : "";
             }},
    Property{"supportedlock", true,
             [](const Resource& resource) -> std::optional<std::string> {
               if (!resource.locks) return std::nullopt;
               return lock_entry("exclusive") + lock_entry("shared");
             }},
    Property{"quota-available-bytes", false,
             [](const Resource& resource) { return number(resource.bytes_available); }},
    Property{"quota-used-bytes", false,
             [](const Resource& resource) { return number(resource.bytes_used); }},
};

std::optional<std::string> content_of(const Resource& resource, const XmlName& name) {
  if (name.space != "DAV:") return std::nullopt;
  const auto found = std::find_if(kProperties.begin(), kProperties.end(),
                                  [&](const Property& each) { return each.name == name.name; });
  return found == kProperties.end() ? std::nullopt : found->content(resource);
}

XmlName dav(std::string_view name) {
  return {"DAV:", std::string(name)};
}

// Counts the properties that a request names.
class NameCount {
 public:
  // Fails with XmlTooLarge if there are too many.
  Status add(const XmlName& name) {
    bytes_ += xml_element(name, "").size();
    if (++names_ <= kPropertyNamesMax && bytes_ <= kPropertyNamesBytesMax) return {};
    return fail(kXmlTooLarge, "the request names too many properties");
  }

 private:
  size_t names_ = 0;
  size_t bytes_ = 0;
};

Status add_names(const XmlElement& list, PropertyRequest& request) {
  NameCount count;
  for (const XmlElement& property : list.children) {
    GM_TRY(count.add(property.name));

    const auto& names = request.names;
    if (std::find(names.begin(), names.end(), property.name) == names.end()) {
      request.names.push_back(property.name);
    }
  }
  return {};
}

}  // namespace

bool PropertyRequest::wants(std::initializer_list<std::string_view> dav_names,
                            bool is_of_all) const {
  if (form == Form::kNames) return false;
  if (form == Form::kAll && is_of_all) return true;
  return std::any_of(dav_names.begin(), dav_names.end(), [&](std::string_view name) {
    return std::find(names.begin(), names.end(), dav(name)) != names.end();
  });
}

Result<PropertyRequest> parse_propfind(std::string_view body) {
  PropertyRequest request;
  if (body.empty()) return request;
  GM_ASSIGN(const XmlElement root, parse_xml(body));
  if (!root.name.is_dav("propfind")) return fail(ErrorCode::kBadValue, "the XML is no propfind");
  const XmlElement* const names = root.child("propname");
  const XmlElement* const all = root.child("allprop");
  const XmlElement* const selected = root.child("prop");
  if ((names != nullptr) + (all != nullptr) + (selected != nullptr) != 1) {
    return fail(ErrorCode::kBadValue, "propfind has one of allprop, propname and prop");
  }
  if (names != nullptr) {
    request.form = PropertyRequest::Form::kNames;
  } else if (selected != nullptr) {
    request.form = PropertyRequest::Form::kSelected;
    GM_TRY(add_names(*selected, request));
  } else if (const XmlElement* const further = root.child("include")) {
    GM_TRY(add_names(*further, request));
  }
  return request;
}

Result<std::vector<PropertyChange>> parse_proppatch(std::string_view body) {
  GM_ASSIGN(const XmlElement root, parse_xml(body));
  if (!root.name.is_dav("propertyupdate")) {
    return fail(ErrorCode::kBadValue, "the XML is no propertyupdate");
  }
  std::vector<PropertyChange> changes;
  NameCount count;
  for (const XmlElement& instruction : root.children) {
    const bool is_set = instruction.name.is_dav("set");
    if (!is_set && !instruction.name.is_dav("remove")) continue;
    const XmlElement* const properties = instruction.child("prop");
    if (properties == nullptr) return fail(ErrorCode::kBadValue, "an instruction has no prop");
    for (const XmlElement& property : properties->children) {
      GM_TRY(count.add(property.name));
      changes.push_back({property.name, is_set ? std::optional(property.text) : std::nullopt});
    }
  }
  if (changes.empty()) return fail(ErrorCode::kBadValue, "the propertyupdate changes nothing");
  return changes;
}

std::string propstat(std::string_view properties, int status) {
  return "<D:propstat><D:prop>" + std::string(properties) + "</D:prop>" + status_element(status) +
         "</D:propstat>";
}

std::string response_of(const Resource& resource, const PropertyRequest& wanted) {
  using Form = PropertyRequest::Form;
  std::string found;
  std::string missing;
  if (wanted.form != Form::kSelected) {
    for (const Property& property : kProperties) {
      const bool is_wanted = property.is_of_all || wanted.form == Form::kNames;
      const auto content = is_wanted ? property.content(resource) : std::nullopt;
      if (!content) continue;
      found += xml_element(dav(property.name), wanted.form == Form::kNames ? "" : *content);
    }
  }
  for (const XmlName& name : wanted.names) {
    const bool is_there =
        wanted.form == Form::kAll &&
        std::any_of(kProperties.begin(), kProperties.end(),
                    [&](const Property& each) { return each.is_of_all && name.is_dav(each.name); });
    if (is_there) continue;
    const auto content = content_of(resource, name);
    (content ? found : missing) += xml_element(name, content.value_or(""));
  }
  std::string response = "<D:response><D:href>" + xml_text(resource.href) + "</D:href>";
  if (!found.empty() || missing.empty()) response += propstat(found, 200);
  if (!missing.empty()) response += propstat(missing, 404);
  return response + "</D:response>\n";
}

}  // namespace gridmount::http
