#include "gridfs/namespace/directory_scan.h"

#include <algorithm>

#include "engine/bson/builder.h"
#include "gridfs/namespace/directory_store.h"
#include "gridfs/namespace/name_mapping.h"
#include "gridfs/namespace/path_index.h"

namespace gridmount::gridfs {
namespace {

bool is_below_slash(char byte) {
  return static_cast<uint8_t>(byte) < static_cast<uint8_t>('/');
}

// Returns true if `name` is after `before` in the index, but its key is before the key of
// `before`.
bool overtakes(std::string_view name, std::string_view before) {
  return name.size() > before.size() && name.starts_with(before) &&
         is_below_slash(name[before.size()]);
}

// Returns the filter {parent: X, name: {$gte: from, $lt: to}}.
bson::Document children(std::string_view parent, std::string_view from,
                        std::optional<std::string_view> to) {
  bson::Builder filter;
  filter.append("parent", parent);
  filter.open_document("name").append("$gte", from);
  if (to) filter.append("$lt", *to);
  filter.close();
  return std::move(filter).finish();
}

}  // namespace

DirectoryScan::DirectoryScan(const Bucket& bucket, engine::Snapshot& snapshot, std::string parent,
                             std::optional<std::string> behind, std::optional<bson::Date> at)
    : bucket_(bucket),
      snapshot_(snapshot),
      parent_(std::move(parent)),
      behind_(std::move(behind)),
      at_(at) {}

std::optional<DirectoryScan::Directory> DirectoryScan::directory_of(bson::View document) const {
  const std::optional<bson::ValueView> name = document.find("name");
  if (!name || name->type() != bson::Type::kString) return std::nullopt;
  if (is_made_after(document, at_)) return std::nullopt;
  const std::string_view component = name->as_string();
  const std::string path = join(parent_, component);
  // Somebody else may have made a document whose name cannot be a directory's. It is ignored,
  // because a look-up would not find it.
  if (path.empty() || !can_be_directory(path) ||
      first_component(component, parent_.empty()) != component) {
    return std::nullopt;
  }
  return Directory{std::string(component), document};
}

Status DirectoryScan::find_held() {
  const std::string& place = *behind_;
  const auto first = std::find_if(place.begin(), place.end(), is_below_slash);
  if (first == place.end()) return {};
  // Usually the whole range is empty. Then no single name needs to be looked up.
  const auto shortest = static_cast<size_t>(first - place.begin());
  engine::FindOptions any;
  any.partial = true;
  GM_ASSIGN(const std::optional<bson::View> some,
            bucket_.directories().find_one(
                snapshot_, children(parent_, place.substr(0, shortest), place), any));
  if (!some) return {};
  for (size_t size = shortest; size < place.size(); ++size) {
    if (!is_below_slash(place[size])) continue;
    bson::Builder filter;
    filter.append("parent", parent_).append("name", std::string_view(place).substr(0, size));
    GM_ASSIGN(const std::optional<bson::View> document,
              bucket_.directories().find_one(snapshot_, std::move(filter).finish()));
    std::optional<Directory> directory = document ? directory_of(*document) : std::nullopt;
    if (directory) held_.push_back(*std::move(directory));
  }
  return {};
}

Status DirectoryScan::start() {
  static const bson::Document kByName = [] {
    bson::Builder sort;
    sort.append("name", int32_t{1});
    return std::move(sort).finish();
  }();
  if (behind_) GM_TRY(find_held());
  engine::FindOptions options;
  options.sort = kByName;
  GM_ASSIGN(cursor_, bucket_.directories().find(
                         snapshot_, children(parent_, behind_.value_or(""), {}), options));
  GM_ASSIGN(ahead_, read());
  return {};
}

Result<std::optional<DirectoryScan::Directory>> DirectoryScan::read() {
  while (true) {
    GM_ASSIGN(const std::optional<bson::View> document, cursor_->next());
    if (!document) return std::optional<Directory>();
    std::optional<Directory> directory = directory_of(*document);
    if (directory && (!behind_ || directory_key(directory->component) > *behind_)) return directory;
  }
}

Result<const DirectoryScan::Directory*> DirectoryScan::peek() {
  if (!cursor_) GM_TRY(start());
  while (!next_) {
    if (!held_.empty() && (!ahead_ || !overtakes(ahead_->component, held_.back().component))) {
      next_ = std::move(held_.back());
      held_.pop_back();
    } else if (ahead_) {
      held_.push_back(*std::move(ahead_));
      GM_ASSIGN(ahead_, read());
    } else {
      return nullptr;
    }
  }
  return &*next_;
}

bool DirectoryScan::is_ahead(std::string_view component) const {
  // A directory that is not read yet is after ahead_ in the index. The name is not after ahead_,
  // because otherwise ahead_ would have overtaken next_.
  const auto is_it = [&](const Directory& directory) { return directory.component == component; };
  return (next_ && is_it(*next_)) || (ahead_ && is_it(*ahead_)) ||
         std::any_of(held_.begin(), held_.end(), is_it);
}

}  // namespace gridmount::gridfs
