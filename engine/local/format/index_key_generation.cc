#include "engine/local/format/index_key_generation.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "engine/bson/text.h"
#include "engine/local/format/index_key_encoding.h"
#include "engine/local/format/keyspace.h"
#include "engine/query/interruption.h"

namespace gridmount::local {
namespace {

using bson::Type;
using bson::ValueView;

// Returns the array position that a path part such as "0" stands for, if it is one.
std::optional<uint32_t> array_position(const std::string& part) {
  if (part.empty() || (part.size() > 1 && part[0] == '0')) return std::nullopt;
  uint32_t position = 0;
  const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), position);
  if (error != std::errc() || end != part.data() + part.size()) return std::nullopt;
  return position;
}

// A score is greater than 0, so the bits of scores have the order of the scores. They are encoded
// as a date, whose encoding has a fixed size.
void append_score(std::string& out, double score) {
  bson::append_key_string(out, bson::Value(bson::Date{std::bit_cast<int64_t>(score)}).view());
}

}  // namespace

bool KeySet::contains(std::string_view key) const {
  const auto at = std::lower_bound(keys_.begin(), keys_.end(), key, [&](Key a, std::string_view b) {
    return std::string_view(bytes_).substr(a.offset, a.size) < b;
  });
  return at != keys_.end() && std::string_view(bytes_).substr(at->offset, at->size) == key;
}

void KeySet::clear() {
  bytes_.clear();
  keys_.clear();
  multikey_ = false;
}

void KeySet::end_key(size_t start, bool truncated) {
  if (truncated) truncate_encoding(bytes_, start);
  keys_.push_back({static_cast<uint32_t>(start), static_cast<uint32_t>(bytes_.size() - start)});
}

void KeySet::sort() {
  const std::string_view bytes(bytes_);
  const auto text = [&](Key key) { return bytes.substr(key.offset, key.size); };
  std::sort(keys_.begin(), keys_.end(), [&](Key a, Key b) { return text(a) < text(b); });
  keys_.erase(
      std::unique(keys_.begin(), keys_.end(), [&](Key a, Key b) { return text(a) == text(b); }),
      keys_.end());
}

// Follows all parts of the index through one document. Each part descends through subdocuments on
// its own. Where parts reach an array, the array is expanded for all of them together, so that the
// values of one key come from one element.
class KeyExtraction {
 public:
  KeyExtraction(const IndexKeySpec& rules, KeySet& keys, bool truncated)
      : rules_(rules), parts_(rules.parts), keys_(keys), truncated_(truncated) {}

  Status run(bson::View document) {
    keys_.clear();
    if (rules_.partial && !rules_.partial->matches(document)) return {};
    if (rules_.text != nullptr) return text_keys(document);
    if (rules_.wildcard != nullptr) {
      GM_TRY(wildcard_keys(document, nullptr));
      keys_.multikey_ = keys_.size() > 1;
      keys_.sort();
      return {};
    }
    if (simple(document)) return {};
    keys_.clear();
    if (std::any_of(parts_.begin(), parts_.end(),
                    [](const IndexPart& part) { return part.hashed; })) {
      constexpr ErrorCode kArrayUnderHashedIndex{16766};
      return fail(kArrayUnderHashedIndex,
                  "hashed indexes do not currently support array values. Found array at path: " +
                      std::string(array_path_));
    }
    std::vector<Position> positions(parts_.size());
    for (size_t i = 0; i < parts_.size(); ++i) positions[i] = start(i, document);
    GM_TRY(expand(positions));
    keys_.sort();
    return {};
  }

 private:
  // Makes the keys of a text index: <values before the terms> <term> <score> <values after them>.
  Status text_keys(bson::View document) {
    std::string before;
    std::string after;
    bool passed = false;
    for (const IndexPart& part : parts_) {
      if (part.text) {
        passed = true;
      } else if (!part.text_score) {
        GM_ASSIGN(const std::optional<ValueView> value, value_without_array(document, part.path));
        append_part(passed ? after : before, part, value);
      }
    }
    GM_ASSIGN(const query::TermScores scores, rules_.text->scores_of(document));
    for (const auto& [term, score] : scores) {
      GM_TRY(query::check_interruption_of(before.size() + after.size() + term.size()));
      const size_t start = keys_.bytes_.size();
      keys_.bytes_ += before;
      bson::append_key_string(keys_.bytes_, bson::Value(term).view());
      append_score(keys_.bytes_, score);
      keys_.bytes_ += after;
      keys_.end_key(start, truncated_);
    }
    keys_.multikey_ = scores.size() > 1;
    keys_.sort();
    return {};
  }

  // Adds the keys <path> <value> of all values in the document, whose path is `parent`, or null for
  // the whole document.
  Status wildcard_keys(bson::View document, const std::string* parent) {
    for (const bson::Element element : document) {
      const std::string path =
          parent == nullptr ? std::string(element.key) : *parent + "." + std::string(element.key);
      if (!rules_.wildcard->leads_to_held(path)) continue;
      if (element.value.type() != Type::kArray) {
        GM_TRY(add_wildcard_value(path, element.value));
        continue;
      }
      const bson::View elements = element.value.as_document();
      if (elements.empty()) add_wildcard_key(path, std::nullopt);
      for (const bson::Element inner : elements) GM_TRY(add_wildcard_value(path, inner.value));
    }
    return {};
  }

  // A document that is not empty gets the keys of its values. An array within an array is a value.
  Status add_wildcard_value(const std::string& path, ValueView value) {
    if (value.type() == Type::kDocument && !value.as_document().empty()) {
      return wildcard_keys(value.as_document(), &path);
    }
    // The path is written, and hashed if it is long, for each of its values.
    GM_TRY(query::check_interruption_of(path.size() + value.size()));
    add_wildcard_key(path, value);
    return {};
  }

  // No value means an empty array.
  void add_wildcard_key(const std::string& path, const std::optional<ValueView>& value) {
    if (!rules_.wildcard->holds(path)) return;
    const size_t start = keys_.bytes_.size();
    bson::append_key_string(keys_.bytes_, bson::Value(path).view());
    if (value) {
      append_part(keys_.bytes_, parts_[1], value);
    } else {
      append_encoded_empty_array(keys_.bytes_, false);
    }
    keys_.end_key(start, truncated_);
  }

  static Result<std::optional<ValueView>> value_without_array(bson::View document,
                                                              const bson::Path& path) {
    std::optional<ValueView> value;
    bson::View within = document;
    for (const std::string& name : path.parts()) {
      if (value) {
        if (value->type() != Type::kDocument) return std::optional<ValueView>();
        within = value->as_document();
      }
      value = within.find(name);
      if (!value) return value;
      if (value->type() != Type::kArray) continue;
      return fail(ErrorCode::kCannotBuildIndexKeys,
                  "Field '" + path.dotted() +
                      "' of text index contains an array in document: " + bson::to_text(document));
    }
    return value;
  }

  // How far a part of the index has descended: the value that it has reached, or nothing if the
  // field is missing, and the next step of its path.
  struct Position {
    std::optional<ValueView> value;
    size_t next = 0;
    bool empty_array = false;
    bool done = false;
  };

  // The common case: no arrays, so at most one key. Returns false if a path meets an array, and
  // sets array_path_.
  bool simple(bson::View document) {
    bool found = false;
    for (const IndexPart& part : parts_) {
      std::optional<ValueView> value;
      bson::View within = document;
      size_t length = 0;  // of the path with its dots so far
      for (const std::string& name : part.path.parts()) {
        if (value) {
          if (value->type() != Type::kDocument) {
            value.reset();
            break;
          }
          within = value->as_document();
        }
        value = within.find(name);
        if (!value) break;
        length += name.size() + 1;
        if (value->type() == Type::kArray) {
          array_path_ = std::string_view(part.path.dotted()).substr(0, length - 1);
          return false;
        }
      }
      found = found || value.has_value();
      append_part(keys_.bytes_, part, value);
    }
    if (rules_.sparse && !found) {
      keys_.clear();
    } else {
      keys_.end_key(0, truncated_);
    }
    return true;
  }

  Position start(size_t part, bson::View document) {
    Position position;
    position.value = document.find(parts_[part].path.parts()[0]);
    position.next = 1;
    advance(part, position);
    return position;
  }

  // Descends through subdocuments until the path ends, a field is missing or an array is reached.
  void advance(size_t part, Position& position) {
    const std::vector<std::string>& names = parts_[part].path.parts();
    while (position.value) {
      if (position.value->type() == Type::kArray) return;
      if (position.next == names.size()) break;
      if (position.value->type() == Type::kDocument) {
        position.value = position.value->as_document().find(names[position.next++]);
      } else {
        position.value.reset();
      }
    }
    position.done = true;
  }

  Status expand(std::vector<Position> positions) {
    GM_TRY(take_numeric_positions(positions));
    const ValueView* array = nullptr;
    size_t first = 0;
    for (size_t i = 0; i < positions.size(); ++i) {
      if (positions[i].done) continue;
      if (array == nullptr) {
        array = &*positions[i].value;
        first = i;
      } else if (array->data() != positions[i].value->data()) {
        return fail(ErrorCode::kCannotIndexParallelArrays, "cannot index parallel arrays [" +
                                                               parts_[i].path.dotted() + "] [" +
                                                               parts_[first].path.dotted() + "]");
      }
    }
    if (array == nullptr) {
      end_key(positions);
      return {};
    }
    keys_.multikey_ = true;
    const bson::View elements = array->as_document();
    if (elements.empty()) {
      for (size_t i = 0; i < positions.size(); ++i) {
        if (positions[i].done) continue;
        positions[i].empty_array = positions[i].next == parts_[i].path.parts().size();
        positions[i].value.reset();
        positions[i].done = true;
      }
      end_key(positions);
      return {};
    }
    for (const bson::Element element : elements) {
      std::vector<Position> within = positions;
      for (size_t i = 0; i < within.size(); ++i) {
        if (!within[i].done) enter(i, within[i], element.value);
      }
      GM_TRY(expand(std::move(within)));
    }
    return {};
  }

  // Moves a part that has reached an array to one of the array's elements. If the element is an
  // array itself, it is a value at the end of the path. Before the end of the path, only a numeric
  // step leads into such an array.
  void enter(size_t part, Position& position, ValueView element) {
    const std::vector<std::string>& names = parts_[part].path.parts();
    position.value = element;
    if (position.next == names.size()) {
      position.done = true;
    } else if (element.type() == Type::kDocument) {
      advance(part, position);
    } else if (element.type() == Type::kArray) {
      const std::optional<uint32_t> index = array_position(names[position.next]);
      std::optional<ValueView> inner;
      if (index) inner = element.as_document().find(names[position.next]);
      position.value = inner;
      if (inner) {
        ++position.next;
        advance(part, position);
      } else {
        position.done = true;
      }
    } else {
      position.value.reset();
      position.done = true;
    }
  }

  // A numeric step of a path means the array's element at that position, if the array has one. If
  // an element also has a field of that name, the path is ambiguous, and MongoDB refuses it.
  Status take_numeric_positions(std::vector<Position>& positions) {
    for (size_t i = 0; i < positions.size(); ++i) {
      const std::vector<std::string>& names = parts_[i].path.parts();
      while (!positions[i].done && positions[i].next < names.size()) {
        const std::string& name = names[positions[i].next];
        if (!array_position(name)) break;
        const bson::View elements = positions[i].value->as_document();
        const std::optional<ValueView> at = elements.find(name);
        if (!at) break;
        for (const bson::Element element : elements) {
          if (element.value.type() == Type::kDocument && element.value.as_document().find(name)) {
            constexpr ErrorCode kAmbiguousFieldName{16746};
            return fail(kAmbiguousFieldName,
                        "ambiguous field name found in array (do not use "
                        "numeric field names in embedded elements in an "
                        "array), field: '" +
                            name + "' for path: " + parts_[i].path.dotted());
          }
        }
        positions[i].value = at;
        ++positions[i].next;
        advance(i, positions[i]);
      }
    }
    return {};
  }

  void end_key(const std::vector<Position>& positions) {
    const bool found = std::any_of(
        positions.begin(), positions.end(),
        [](const Position& position) { return position.value || position.empty_array; });
    if (rules_.sparse && !found) return;
    const size_t start = keys_.bytes_.size();
    for (size_t i = 0; i < positions.size(); ++i) {
      if (positions[i].empty_array) {
        append_encoded_empty_array(keys_.bytes_, parts_[i].descending);
      } else {
        append_part(keys_.bytes_, parts_[i], positions[i].value);
      }
    }
    keys_.end_key(start, truncated_);
  }

  const IndexKeySpec& rules_;
  const std::vector<IndexPart>& parts_;
  KeySet& keys_;
  const bool truncated_;
  std::string_view array_path_;  // the path of the array that simple() has met
};

Status extract_keys(const IndexKeySpec& rules, bson::View document, KeySet& keys) {
  return KeyExtraction(rules, keys, true).run(document);
}

Status extract_whole_keys(const IndexKeySpec& rules, bson::View document, KeySet& keys) {
  return KeyExtraction(rules, keys, false).run(document);
}

std::optional<double> score_of_key(const IndexKeySpec& rules, std::string_view key) {
  if (is_truncated(key)) return std::nullopt;
  for (const IndexPart& part : rules.parts) {
    const std::optional<size_t> size = bson::key_string_size(key, part.descending);
    if (!size) return std::nullopt;
    if (part.text_score) {
      constexpr size_t kScoreBytes = 8;
      if (*size != 1 + kScoreBytes) return std::nullopt;
      const uint64_t bits = big_endian_64(key.substr(1)) ^ (uint64_t{1} << 63);
      return std::bit_cast<double>(bits);
    }
    key.remove_prefix(*size);
  }
  return std::nullopt;
}

}  // namespace gridmount::local
