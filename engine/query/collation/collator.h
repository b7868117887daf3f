// Compares strings by a collation (collation.h), with the system's ICU.
//
// Bytes that are not UTF-8 count as U+FFFD, as on servers. Servers have a copy of ICU 57.1, with
// rules of 2016. So the order differs from the order of servers for characters that Unicode has
// added or changed since 2016, and for languages whose rules have been corrected since 2016.
//
// Thread-safety: a Collator is immutable, so thread-safe. ICU allows concurrent calls of the
// functions that only read a collator.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/error.h"
#include "engine/bson/string_order.h"
#include "engine/bson/value.h"
#include "engine/query/collation/collation.h"

namespace gridmount::query {

class Collator : public bson::StringOrder {
 public:
  // Makes a collator. Does not check the locale: if ICU has no rules for it, ICU uses its default
  // rules. Fails with InternalError if ICU fails.
  static Result<std::shared_ptr<const Collator>> make(const Collation& collation);
  // Makes the collator of a command's collation. Returns null for an empty document and for
  // {locale: "simple"}. Fails as Collation::parse() and make() do. A pipeline calls this with the
  // same specification for each of its reads, so each thread keeps the last result.
  static Result<std::shared_ptr<const Collator>> parse(bson::View specification);

  ~Collator() override;
  Collator(const Collator&) = delete;
  Collator& operator=(const Collator&) = delete;

  const Collation& collation() const { return collation_; }
  // Returns the versions of ICU and of its rules for this locale, as one text. Sort keys of
  // different versions must not be compared with each other.
  const std::string& library_version() const { return library_version_; }

  std::weak_ordering compare(std::string_view a, std::string_view b) const override;
  void append_sort_key(std::string& out, std::string_view text) const override;

 private:
  struct Rules;
  Collator(Collation collation, std::unique_ptr<Rules> rules);

  const Collation collation_;
  const std::string library_version_;
  const std::unique_ptr<Rules> rules_;
};

using SharedCollator = std::shared_ptr<const Collator>;

// Returns whether both collators compare strings in the same way. A null pointer means the
// comparison as bytes.
bool same_collation(const Collator* a, const Collator* b);

// Returns whether a comparison with a value of this type may depend on the order of strings,
// because such a value is a string or may contain strings.
bool depends_on_strings(bson::Type type);

}  // namespace gridmount::query
