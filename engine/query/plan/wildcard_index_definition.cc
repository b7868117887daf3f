#include "engine/query/plan/wildcard_index_definition.h"

#include <algorithm>

#include "engine/bson/dotted_path.h"
#include "engine/bson/text.h"
#include "engine/query/projection/projection.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::ValueView;

constexpr std::string_view kWildcard = "$**";

bool is_wildcard_part(std::string_view name) {
  return name == kWildcard || name.ends_with(".$**");
}

bool is_at_or_below(std::string_view path, std::string_view ancestor) {
  return path == ancestor || (path.size() > ancestor.size() && path.starts_with(ancestor) &&
                              path[ancestor.size()] == '.');
}

// A field of a projection: its path, and whether it is included.
struct ListedPath {
  std::string path;
  bool is_included;
};

Status list_paths(bson::View projection, const std::string& prefix,
                  std::vector<ListedPath>& paths) {
  for (const bson::Element element : projection) {
    const std::string path = prefix + std::string(element.key);
    const ValueView value = element.value;
    if (value.type() == Type::kDocument && !value.as_document().empty() &&
        !(*value.as_document().begin()).key.starts_with('$')) {
      GM_TRY(list_paths(value.as_document(), path + ".", paths));
    } else if (value.type() == Type::kBool) {
      paths.push_back({path, value.as_bool()});
    } else if (value.is_number()) {
      paths.push_back({path, value.number().value_or(0) != 0});
    } else {
      return fail(ErrorCode{51271},
                  "Failed to parse: wildcardProjection :: caused by :: the value of '" + path +
                      "' must be true or false");
    }
  }
  return {};
}

tl::unexpected<Error> refuse(const IndexDefinition& index, const std::string& why) {
  return fail(ErrorCode::kCannotCreateIndex,
              "Error in specification " + bson::to_text(index.keys.view()) + " of the index '" +
                  index.name + "' :: caused by :: " + why);
}

Status check_projection(const IndexDefinition& index, bson::View projection) {
  const std::string_view key = (*index.keys.view().begin()).key;
  if (!is_wildcard_index(index)) {
    return fail(ErrorCode::kBadValue,
                "The field 'wildcardProjection' is only allowed in a 'wildcard' index");
  }
  if (key != kWildcard) {
    return fail(ErrorCode::kFailedToParse,
                "The field 'wildcardProjection' is only allowed when 'key' is {\"$**\": 1}");
  }
  if (projection.empty()) {
    return fail(ErrorCode::kFailedToParse,
                "The 'wildcardProjection' field can't be an empty object");
  }
  std::vector<ListedPath> paths;
  GM_TRY(list_paths(projection, "", paths));
  GM_TRY(Projection::parse(projection));
  return {};
}

}  // namespace

bool is_wildcard_index(const IndexDefinition& index) {
  const bson::View keys = index.keys.view();
  return !keys.empty() && ++keys.begin() == keys.end() && is_wildcard_part((*keys.begin()).key);
}

Status check_wildcard_index(const IndexDefinition& index) {
  const bson::View keys = index.keys.view();
  if (const auto projection = index.other_options.view().find(kWildcardProjection)) {
    if (projection->type() != Type::kDocument) {
      return refuse(index, "the wildcardProjection must be an object");
    }
    GM_TRY(check_projection(index, projection->as_document()));
  }
  if (!is_wildcard_index(index)) {
    const bool is_compound = std::any_of(keys.begin(), keys.end(), [](const bson::Element& part) {
      return is_wildcard_part(part.key) && part.value.is_number();
    });
    if (is_compound) return refuse(index, "wildcard indexes do not allow compounding");
    return {};
  }
  const bson::Element part = *keys.begin();
  if (part.value.type() == Type::kString) return {};  // an index of another kind
  if (!(part.value.number().value_or(0) > 0)) {
    return refuse(index, "A numeric value in a $** index key pattern must be positive.");
  }
  const bson::Path path(part.key);
  for (size_t i = 0; i + 1 < path.parts().size(); ++i) {
    const std::string& step = path.parts()[i];
    if (step.empty()) return refuse(index, "Index keys cannot contain an empty field.");
    if (step[0] == '$') {
      return refuse(index, "Index key contains an illegal field name: field name starts with '$'.");
    }
  }
  const std::string type = "Index type 'wildcard' ";
  if (index.unique) return refuse(index, type + "does not support the unique option");
  if (index.sparse) return refuse(index, type + "does not support the sparse option");
  if (index.expire_after_seconds) return refuse(index, type + "cannot be a TTL index");
  return {};
}

WildcardPaths WildcardPaths::of(const IndexDefinition& index) {
  WildcardPaths paths;
  const std::string_view key = (*index.keys.view().begin()).key;
  if (key != kWildcard) {
    paths.root_ = key.substr(0, key.size() - kWildcard.size() - 1);
    paths.has_id_ = true;
    return paths;
  }
  const auto projection = index.other_options.view().find(kWildcardProjection);
  if (!projection) return paths;
  std::vector<ListedPath> listed;
  // check_wildcard_index() has accepted the projection.
  if (!list_paths(projection->as_document(), "", listed)) return paths;
  bool has_others = false;
  for (const ListedPath& each : listed) {
    if (each.path == "_id") {
      paths.has_id_ = each.is_included;
      if (listed.size() == 1) paths.is_exclusion_ = !each.is_included;
    } else {
      has_others = true;
      paths.is_exclusion_ = !each.is_included;
      paths.listed_.push_back(each.path);
    }
  }
  // {_id: 1} alone includes only _id.
  if (!has_others && !paths.is_exclusion_) paths.listed_.emplace_back("_id");
  return paths;
}

bool WildcardPaths::holds(std::string_view path) const {
  if (!root_.empty()) return is_at_or_below(path, root_);
  if (is_at_or_below(path, "_id")) {
    const bool is_listed = std::any_of(
        listed_.begin(), listed_.end(),
        [&](const std::string& each) { return each != "_id" && is_at_or_below(path, each); });
    return has_id_ || (is_listed && !is_exclusion_);
  }
  const bool is_listed = std::any_of(listed_.begin(), listed_.end(), [&](const std::string& each) {
    return is_at_or_below(path, each);
  });
  return is_listed != is_exclusion_;
}

bool WildcardPaths::holds_all_below(std::string_view path) const {
  const bool leaves_out_below =
      is_exclusion_ && std::any_of(listed_.begin(), listed_.end(), [&](const std::string& each) {
        return is_at_or_below(each, path);
      });
  return holds(path) && !leaves_out_below;
}

bool WildcardPaths::leads_to_held(std::string_view path) const {
  if (holds(path)) return true;
  if (!root_.empty()) return is_at_or_below(root_, path);
  return !is_exclusion_ &&
         std::any_of(listed_.begin(), listed_.end(),
                     [&](const std::string& each) { return is_at_or_below(each, path); });
}

}  // namespace gridmount::query
