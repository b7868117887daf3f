#include "gridfs/xattrs.h"

#include "gridfs/byte_fields.h"
#include "gridfs/error.h"

namespace gridmount::gridfs {
namespace {

constexpr std::string_view kName = "name";
constexpr std::string_view kValue = "value";

}  // namespace

tl::unexpected<Error> no_such_xattr(std::string_view name) {
  return fail(kNoSuchXattr, "there is no extended attribute '" + std::string(name) + "'");
}

void append_xattrs(bson::Builder& builder, std::string_view key, const Xattrs& xattrs) {
  builder.open_array(key);
  for (const auto& [name, value] : xattrs) {
    builder.push_open_document();
    append_bytes(builder, kName, name);
    append_bytes(builder, kValue, value);
    builder.close();
  }
  builder.close();
}

Xattrs read_xattrs(bson::View document, std::string_view key) {
  Xattrs xattrs;
  const std::optional<bson::ValueView> array = document.find(key);
  if (!array || array->type() != bson::Type::kArray) return xattrs;
  for (const bson::Element element : array->as_document()) {
    if (element.value.type() != bson::Type::kDocument) continue;
    const bson::View xattr = element.value.as_document();
    std::optional<std::string> name = read_bytes(xattr, kName);
    std::optional<std::string> value = read_bytes(xattr, kValue);
    if (name && value) xattrs.insert_or_assign(*std::move(name), *std::move(value));
  }
  return xattrs;
}

Status set_xattr(Xattrs& xattrs, std::string_view name, std::string_view value, XattrMode mode) {
  const auto found = xattrs.find(name);
  if (found != xattrs.end() && mode == XattrMode::kCreate) {
    return fail(kEntryExists, "there is an extended attribute '" + std::string(name) + "' already");
  }
  if (found == xattrs.end() && mode == XattrMode::kReplace) return no_such_xattr(name);
  size_t bytes = name.size() + value.size();
  for (const auto& [other, others_value] : xattrs) {
    if (other != name) bytes += other.size() + others_value.size();
  }
  if (bytes > kMaxXattrsBytes) {
    return fail(kNoRoomForXattrs, "with the extended attribute '" + std::string(name) +
                                      "' there would be " + std::to_string(bytes) +
                                      " bytes of them, and at most " +
                                      std::to_string(kMaxXattrsBytes) + " are possible");
  }
  xattrs.insert_or_assign(std::string(name), std::string(value));
  return {};
}

Status remove_xattr(Xattrs& xattrs, std::string_view name) {
  const auto found = xattrs.find(name);
  if (found == xattrs.end()) return no_such_xattr(name);
  xattrs.erase(found);
  return {};
}

}  // namespace gridmount::gridfs
