#include "gridfs/bucket/xattrs.h"

#include <algorithm>

#include "gridfs/bucket/byte_fields.h"
#include "gridfs/bucket/error.h"

namespace gridmount::gridfs {
namespace {

constexpr std::string_view kName = "name";
constexpr std::string_view kValue = "value";

using Attribute = Xattrs::Attribute;

bool is_before(const Attribute& one, std::string_view name) {
  return one.name < name;
}

}  // namespace

Xattrs::Xattrs(std::vector<Attribute> attributes) {
  const auto by_name = [](const Attribute& one, const Attribute& other) {
    return one.name < other.name;
  };
  if (!std::is_sorted(attributes.begin(), attributes.end(), by_name)) {
    std::stable_sort(attributes.begin(), attributes.end(), by_name);
  }
  auto all = std::make_shared<All>();
  size_t bytes = 0;
  for (const Attribute& each : attributes) bytes += each.name.size() + each.value.size();
  // The views below point into `bytes`, so it must not be reallocated.
  all->bytes.reserve(bytes);
  const auto copied = [&](std::string_view text) {
    const size_t begin = all->bytes.size();
    all->bytes += text;
    return std::string_view(all->bytes).substr(begin);
  };
  all->attributes.reserve(attributes.size());
  for (size_t i = 0; i < attributes.size(); ++i) {
    if (i + 1 < attributes.size() && attributes[i + 1].name == attributes[i].name) continue;
    all->attributes.push_back({copied(attributes[i].name), copied(attributes[i].value)});
  }
  all_ = std::move(all);
}

std::optional<std::string_view> Xattrs::find(std::string_view name) const {
  const auto found = std::lower_bound(attributes().begin(), attributes().end(), name, is_before);
  if (found == attributes().end() || found->name != name) return std::nullopt;
  return found->value;
}

void Xattrs::set(std::string_view name, std::string_view value) {
  std::vector<Attribute> changed = attributes();
  const auto found = std::lower_bound(changed.begin(), changed.end(), name, is_before);
  if (found != changed.end() && found->name == name) {
    found->value = value;
  } else {
    changed.insert(found, {name, value});
  }
  *this = Xattrs(std::move(changed));
}

void Xattrs::erase(std::string_view name) {
  std::vector<Attribute> changed = attributes();
  std::erase_if(changed, [&](const Attribute& each) { return each.name == name; });
  *this = Xattrs(std::move(changed));
}

tl::unexpected<Error> no_such_xattr(std::string_view name) {
  return fail(kNoSuchXattr, "there is no extended attribute '" + std::string(name) + "'");
}

void append_xattrs(bson::Builder& builder, std::string_view key, const Xattrs& xattrs) {
  builder.open_array(key);
  for (const auto& [name, value] : xattrs.attributes()) {
    builder.push_open_document();
    append_bytes(builder, kName, name);
    append_bytes(builder, kValue, value);
    builder.close();
  }
  builder.close();
}

Xattrs read_xattrs(bson::View document, std::string_view key) {
  std::vector<Attribute> attributes;
  const std::optional<bson::ValueView> array = document.find(key);
  if (!array || array->type() != bson::Type::kArray) return Xattrs();
  for (const bson::Element element : array->as_document()) {
    if (element.value.type() != bson::Type::kDocument) continue;
    const bson::View xattr = element.value.as_document();
    const std::optional<std::string_view> name = view_bytes(xattr, kName);
    const std::optional<std::string_view> value = view_bytes(xattr, kValue);
    if (name && value) attributes.push_back({*name, *value});
  }
  return Xattrs(std::move(attributes));
}

Status set_xattr(Xattrs& xattrs, std::string_view name, std::string_view value, XattrMode mode) {
  const std::optional<std::string_view> found = xattrs.find(name);
  if (found && mode == XattrMode::kCreate) {
    return fail(kEntryExists, "there is an extended attribute '" + std::string(name) + "' already");
  }
  if (!found && mode == XattrMode::kReplace) return no_such_xattr(name);
  size_t bytes = xattrs.bytes() + name.size() + value.size();
  if (found) bytes -= name.size() + found->size();
  if (bytes > kMaxXattrsBytes) {
    return fail(kNoRoomForXattrs, "with the extended attribute '" + std::string(name) +
                                      "' there would be " + std::to_string(bytes) +
                                      " bytes of extended attributes; the limit is " +
                                      std::to_string(kMaxXattrsBytes));
  }
  xattrs.set(name, value);
  return {};
}

Status remove_xattr(Xattrs& xattrs, std::string_view name) {
  if (!xattrs.contains(name)) return no_such_xattr(name);
  xattrs.erase(name);
  return {};
}

}  // namespace gridmount::gridfs
