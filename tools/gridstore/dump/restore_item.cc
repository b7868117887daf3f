#include "tools/gridstore/dump/restore_item.h"

#include <map>
#include <utility>

#include "tools/quoted.h"

namespace gridmount::tools {

Result<RestoreNames> RestoreNames::parse(const Given& given) {
  RestoreNames names;
  std::vector<std::string> include = given.include;
  if (!given.database.empty()) {
    include.push_back(escaped_pattern(given.database) + "." +
                      (given.collection.empty() ? "*" : escaped_pattern(given.collection)));
  }
  if (include.empty()) include = {"*"};
  GM_ASSIGN(names.included_, NamespaceMatcher::parse(include));
  GM_ASSIGN(names.excluded_, NamespaceMatcher::parse(given.exclude));
  GM_ASSIGN(names.renamer_, NamespaceRenamer::parse(given.from, given.to));
  return names;
}

std::optional<engine::Namespace> RestoreNames::target_of(const engine::Namespace& ns) const {
  // system.profile has the output of a profiler. Names that begin with '$' are for the users in the
  // dump of a single database.
  if (ns.collection == "system.profile" || ns.collection.starts_with('$')) return std::nullopt;
  const std::string full = ns.full();
  if (!included_.matches(full) || excluded_.matches(full)) return std::nullopt;
  const std::string renamed = renamer_.renamed(full);
  const size_t dot = renamed.find('.');
  // Without a dot, the name has no collection. The store then refuses the name.
  if (dot == std::string::npos) return engine::Namespace{renamed, ""};
  return engine::Namespace{renamed.substr(0, dot), renamed.substr(dot + 1)};
}

Status check_targets(std::span<const RestoreItem> items) {
  std::map<engine::Namespace, const RestoreItem*> by_target;
  for (const RestoreItem& item : items) {
    const auto [found, is_new] = by_target.emplace(item.to, &item);
    if (is_new) continue;
    return fail(ErrorCode::kBadValue, in_quotes(found->second->from.full()) + " and " +
                                          in_quotes(item.from.full()) + " would both go to " +
                                          in_quotes(item.to.full()));
  }
  return {};
}

}  // namespace gridmount::tools
