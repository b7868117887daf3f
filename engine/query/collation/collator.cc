#include "engine/query/collation/collator.h"

#include <unicode/ucol.h>
#include <unicode/ustring.h>
#include <unicode/uversion.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace gridmount::query {
namespace {

struct Closing {
  void operator()(UCollator* collator) const { ucol_close(collator); }
};

UColAttributeValue on_or_off(bool on) {
  return on ? UCOL_ON : UCOL_OFF;
}

UColAttributeValue strength_of(int32_t strength) {
  switch (strength) {
    case 1:
      return UCOL_PRIMARY;
    case 2:
      return UCOL_SECONDARY;
    case 4:
      return UCOL_QUATERNARY;
    case 5:
      return UCOL_IDENTICAL;
    default:
      return UCOL_TERTIARY;
  }
}

UColAttributeValue case_first_of(const std::string& name) {
  if (name == "upper") return UCOL_UPPER_FIRST;
  return name == "lower" ? UCOL_LOWER_FIRST : UCOL_OFF;
}

// Sets every attribute, so that ICU's defaults for a locale, which differ between versions, have no
// effect. Collation::parse() has filled in the servers' defaults.
void set_attributes(UCollator* rules, const Collation& collation, UErrorCode& code) {
  ucol_setAttribute(rules, UCOL_CASE_LEVEL, on_or_off(collation.case_level), &code);
  ucol_setAttribute(rules, UCOL_CASE_FIRST, case_first_of(collation.case_first), &code);
  ucol_setAttribute(rules, UCOL_STRENGTH, strength_of(collation.strength), &code);
  ucol_setAttribute(rules, UCOL_NUMERIC_COLLATION, on_or_off(collation.numeric_ordering), &code);
  ucol_setAttribute(rules, UCOL_ALTERNATE_HANDLING,
                    collation.alternate == "shifted" ? UCOL_SHIFTED : UCOL_NON_IGNORABLE, &code);
  ucol_setMaxVariable(
      rules,
      collation.max_variable == "space" ? UCOL_REORDER_CODE_SPACE : UCOL_REORDER_CODE_PUNCTUATION,
      &code);
  ucol_setAttribute(rules, UCOL_NORMALIZATION_MODE, on_or_off(collation.normalization), &code);
  if (collation.backwards) {
    ucol_setAttribute(rules, UCOL_FRENCH_COLLATION, on_or_off(*collation.backwards), &code);
  }
}

// A value is smaller than 2 GiB, so its size fits into an int32_t, which ICU uses for sizes.
int32_t size_of(std::string_view text) {
  return static_cast<int32_t>(std::min<size_t>(text.size(), std::numeric_limits<int32_t>::max()));
}

// Converts UTF-8 to UTF-16. Bytes that are not UTF-8 become U+FFFD.
std::vector<UChar> utf16(std::string_view text) {
  constexpr UChar32 kReplacement = 0xFFFD;
  std::vector<UChar> units(text.size() + 1);  // no text has more units than bytes
  int32_t size = 0;
  UErrorCode code = U_ZERO_ERROR;
  u_strFromUTF8WithSub(units.data(), static_cast<int32_t>(units.size()), &size, text.data(),
                       size_of(text), kReplacement, nullptr, &code);
  units.resize(U_SUCCESS(code) ? static_cast<size_t>(size) : 0);
  return units;
}

std::string version_of(const UCollator* icu) {
  UVersionInfo library;
  UVersionInfo rules;
  u_getVersion(library);
  ucol_getVersion(icu, rules);
  char library_text[U_MAX_VERSION_STRING_LENGTH];
  char rules_text[U_MAX_VERSION_STRING_LENGTH];
  u_versionToString(library, library_text);
  u_versionToString(rules, rules_text);
  return std::string(library_text) + "/" + rules_text;
}

}  // namespace

struct Collator::Rules {
  std::unique_ptr<UCollator, Closing> icu;
};

Collator::Collator(Collation collation, std::unique_ptr<Rules> rules)
    : collation_(std::move(collation)),
      library_version_(version_of(rules->icu.get())),
      rules_(std::move(rules)) {}

Collator::~Collator() = default;

Result<SharedCollator> Collator::make(const Collation& collation) {
  UErrorCode code = U_ZERO_ERROR;
  auto rules = std::make_unique<Rules>();
  rules->icu.reset(ucol_open(collation.locale.c_str(), &code));
  if (U_SUCCESS(code)) set_attributes(rules->icu.get(), collation, code);
  if (U_FAILURE(code)) {
    return fail(ErrorCode::kInternalError, "cannot make a collator for the locale '" +
                                               collation.locale + "': " + u_errorName(code));
  }
  return SharedCollator(new Collator(collation, std::move(rules)));
}

Result<SharedCollator> Collator::parse(bson::View specification) {
  struct Last {
    bson::Document specification;
    SharedCollator collator;
  };
  thread_local std::optional<Last> last;
  if (specification.empty()) return SharedCollator();
  if (last && std::ranges::equal(last->specification.view().bytes(), specification.bytes()))
    return last->collator;
  GM_ASSIGN(const std::optional<Collation> collation, Collation::parse(specification));
  SharedCollator made;
  if (collation) {
    GM_ASSIGN(made, make(*collation));
  }
  last.emplace(Last{bson::Document(specification), made});
  return made;
}

std::weak_ordering Collator::compare(std::string_view a, std::string_view b) const {
  if (a == b) return std::weak_ordering::equivalent;
  UErrorCode code = U_ZERO_ERROR;
  const UCollationResult order =
      ucol_strcollUTF8(rules_->icu.get(), a.data(), size_of(a), b.data(), size_of(b), &code);
  // Only a lack of memory makes ICU fail here.
  if (U_FAILURE(code)) return a.compare(b) <=> 0;
  return static_cast<int>(order) <=> 0;
}

void Collator::append_sort_key(std::string& out, std::string_view text) const {
  const std::vector<UChar> units = utf16(text);
  const auto size = static_cast<int32_t>(units.size());
  uint8_t usual[256];
  int32_t needed =
      ucol_getSortKey(rules_->icu.get(), units.data(), size, usual, int32_t{sizeof usual});
  if (needed <= int32_t{sizeof usual}) {
    // A sort key ends with a NUL, which is not part of it.
    if (needed > 0)
      out.append(reinterpret_cast<const char*>(usual), static_cast<size_t>(needed - 1));
    return;
  }
  const size_t start = out.size();
  out.resize(start + static_cast<size_t>(needed));
  needed = ucol_getSortKey(rules_->icu.get(), units.data(), size,
                           reinterpret_cast<uint8_t*>(out.data() + start), needed);
  out.resize(start + static_cast<size_t>(std::max(needed, 1) - 1));
}

bool same_collation(const Collator* a, const Collator* b) {
  if (a == nullptr || b == nullptr) return a == b;
  return a == b || a->collation() == b->collation();
}

bool depends_on_strings(bson::Type type) {
  switch (type) {
    case bson::Type::kString:
    case bson::Type::kSymbol:
    case bson::Type::kDocument:
    case bson::Type::kArray:
      return true;
    default:
      return false;
  }
}

}  // namespace gridmount::query
