// Mutates libFuzzer inputs that are sequences of documents, as documents. Mutated as bytes, almost
// none would stay valid, and no operator's name would ever appear. The names come from the sources
// of the query language, and names from one source are used together: $push and $each, $cond and
// then. Documents of the tests are inserted whole and in parts.

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/bson/json.h"
#include "tests/engine/bson/random_bson.h"
#include "tests/fuzz/documents_in.h"

// libFuzzer's own mutation of bytes.
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

using namespace gridmount;

namespace {

using Names = std::vector<std::string_view>;

// The names, grouped by source.
const std::vector<Names>& sources() {
  static const std::vector<Names> sources = {
#include "names.inc"
  };
  return sources;
}

// Returns the sources that contain a name.
const std::vector<const Names*>& sources_with(std::string_view name) {
  static const auto by_name = [] {
    std::unordered_map<std::string_view, std::vector<const Names*>> found;
    for (const Names& names : sources()) {
      for (const std::string_view each : names) found[each].push_back(&names);
    }
    return found;
  }();
  static const std::vector<const Names*> none;
  const auto found = by_name.find(name);
  return found != by_name.end() ? found->second : none;
}

bool is_nested(bson::ValueView value) {
  return value.type() == bson::Type::kDocument || value.type() == bson::Type::kArray;
}

// Returns documents and arrays.
const std::vector<bson::Value>& examples() {
  static const auto parsed = [] {
    std::vector<bson::Value> found;
    for (const std::string_view example : {
#include "examples.inc"
         }) {
      const auto read = bson::document_from_json("{\"\": " + std::string(example) + "}");
      if (!read) continue;
      // Extended JSON also writes other values as objects.
      const bson::ValueView value = (*read->view().begin()).value;
      if (is_nested(value)) found.emplace_back(value);
    }
    return found;
  }();
  return parsed;
}

// Field names for the operands of operators.
constexpr std::string_view kFields[] = {"a", "b", "c", "a.b", "a.0", "_id", "v", ""};
constexpr std::string_view kTexts[] = {
    "$a",         "$b",        "$a.b",     "$$v",      "$$v.a",
    "$$ROOT",     "$$CURRENT", "$$REMOVE", "$$NOW",    "$$this",
    "$$value",    "$$DESCEND", "a.$",      "a.$[]",    "a.$[b]",
    "2024-02-29", "+01:00",    "%Y-%m",    "%G %V %u", "Europe/Rome",
    "hour",       "^a+",       "(a)|(b)",  "[0-9",     "\xF0\x9F\x98\x80",
    "12",         "1.5e3",     "-0",       "year",     "R20",
    "POWERSOF2",  "null"};

// Numbers the values in the order of the walk. The end of each document and array has a number too.
class Mutation {
 public:
  Mutation(uint64_t seed, const std::vector<bson::View>& donors) : random_(seed) {
    for (const bson::View donor : donors) collect(donor);
  }

  bson::Document apply(bson::View document) {
    next_ = 0;
    target_ = random_.index(places(document));
    bson::Builder builder;
    copy(document, builder, false);
    return std::move(builder).finish();
  }

  // Returns a document, whatever the value was before.
  bson::Document example_document() {
    return bson::Document(one_of(examples()).view().as_document());
  }

  bool chance(size_t one_in) { return random_.chance(one_in); }
  size_t index(size_t limit) { return random_.index(limit); }

 private:
  static size_t places(bson::View document) {
    size_t count = 1;
    for (const bson::Element element : document) {
      count += 1;
      if (is_nested(element.value)) count += places(element.value.as_document());
    }
    return count;
  }

  void collect(bson::View document) {
    for (const bson::Element element : document) {
      donors_.push_back(element);
      if (!sources_with(element.key).empty()) known_.push_back(element.key);
      if (is_nested(element.value)) collect(element.value.as_document());
    }
  }

  void copy(bson::View from, bson::Builder& to, bool is_array) {
    for (const bson::Element element : from) {
      if (next_++ == target_) {
        change(element, to, is_array);
      } else if (is_nested(element.value)) {
        const bool nested_array = element.value.type() == bson::Type::kArray;
        open(element.key, to, is_array, nested_array);
        copy(element.value.as_document(), to, nested_array);
        to.close();
        continue;
      } else {
        put(element.key, element.value, to, is_array);
        continue;
      }
      // The numbers continue as if the value had been walked.
      if (is_nested(element.value)) next_ += places(element.value.as_document());
    }
    if (next_++ == target_) put(name(), value(), to, is_array);
  }

  static void open(std::string_view key, bson::Builder& to, bool in_array, bool as_array) {
    if (in_array) {
      as_array ? to.push_open_array() : to.push_open_document();
    } else {
      as_array ? to.open_array(key) : to.open_document(key);
    }
  }

  static void put(std::string_view key, bson::ValueView value, bson::Builder& to, bool in_array) {
    in_array ? to.push(value) : to.append(key, value);
  }

  void change(bson::Element element, bson::Builder& to, bool in_array) {
    switch (random_.index(9)) {
      case 0:  // leaves it out
        return;
      case 1:
        return put(name(), element.value, to, in_array);
      case 2:
        put(element.key, element.value, to, in_array);
        return put(name(), value(), to, in_array);
      case 3: {
        open(element.key, to, in_array, false);
        to.append(name(), element.value).close();
        return;
      }
      case 4: {
        open(element.key, to, in_array, true);
        to.push(element.value);
        if (chance(2)) to.push(value());
        to.close();
        return;
      }
      case 5:  // only its contents, or the contents in the other form
        if (!is_nested(element.value)) break;
        if (chance(2) && !element.value.as_document().empty()) {
          return put(element.key, (*element.value.as_document().begin()).value, to, in_array);
        }
        open(element.key, to, in_array, element.value.type() == bson::Type::kDocument);
        copy(element.value.as_document(), to, element.value.type() == bson::Type::kDocument);
        to.close();
        return;
      case 6:
        if (element.value.type() != bson::Type::kString) break;
        return put(element.key, bson::Value(changed_text(element.value.as_string())), to, in_array);
      default:
        break;
    }
    put(element.key, value(), to, in_array);
  }

  std::string name() {
    if (chance(4)) return std::string(kFields[random_.index(std::size(kFields))]);
    if (!donors_.empty() && chance(8)) {
      return std::string(donors_[random_.index(donors_.size())].key);
    }
    return std::string(one_of(*one_of_sources()));
  }

  // Prefers a name that is used together with one that is already there.
  const Names* one_of_sources() {
    if (known_.empty() || chance(4)) return &sources()[random_.index(sources().size())];
    return one_of(sources_with(one_of(known_)));
  }

  template <typename T>
  const T& one_of(const std::vector<T>& all) {
    return all[random_.index(all.size())];
  }

  bson::Value value() {
    switch (random_.index(donors_.empty() ? 7 : 9)) {
      case 0:
        return bson::Value(kTexts[random_.index(std::size(kTexts))]);
      case 1:
        return bson::Value(name());
      case 2: {
        bson::Builder builder;
        builder.append(name(), chance(2) ? value() : random_.value(1));
        return bson::Value(std::move(builder).finish());
      }
      case 3:
        return random_.number();
      case 4:
        return random_.value(2);
      case 5:
        return bson::Value(static_cast<int32_t>(random_.index(16)) - 5);
      case 6:
        return example();
      default:
        return bson::Value(donors_[random_.index(donors_.size())].value);
    }
  }

  // Returns an example or a part of one.
  bson::Value example() {
    bson::ValueView value = one_of(examples());
    while (is_nested(value) && !value.as_document().empty() && chance(2)) {
      const bson::View parts = value.as_document();
      const auto count = static_cast<size_t>(std::distance(parts.begin(), parts.end()));
      value = (*std::next(parts.begin(), static_cast<std::ptrdiff_t>(random_.index(count)))).value;
    }
    return bson::Value(value);
  }

  std::string changed_text(std::string_view text) {
    if (text.size() > kTextBytesMax) text = text.substr(0, kTextBytesMax);
    std::string changed(kTextBytesMax, '\0');
    std::copy(text.begin(), text.end(), changed.begin());
    changed.resize(
        LLVMFuzzerMutate(reinterpret_cast<uint8_t*>(changed.data()), text.size(), changed.size()));
    return changed;
  }

  static constexpr size_t kTextBytesMax = 64;

  bson::RandomBson random_;
  std::vector<bson::Element> donors_;
  Names known_;  // its keys that occur in a source
  size_t target_ = 0;
  size_t next_ = 0;
};

// Writes `documents` one after the other to `out`. Leaves out those that do not fit.
size_t write(const std::vector<bson::Document>& documents, uint8_t* out, size_t max_size) {
  size_t size = 0;
  for (const bson::Document& document : documents) {
    const std::span<const uint8_t> bytes = document.view().bytes();
    if (bytes.size() > max_size - size) continue;
    memcpy(out + size, bytes.data(), bytes.size());
    size += bytes.size();
  }
  return size;
}

size_t mutate(const std::vector<bson::View>& documents, const std::vector<bson::View>& donors,
              uint8_t* out, size_t max_size, unsigned seed) {
  Mutation mutation(seed, donors);
  std::vector<bson::Document> changed(documents.begin(), documents.end());
  while (changed.size() < 2) changed.emplace_back();
  if (changed.size() < kFuzzDocumentsMax && mutation.chance(16)) changed.emplace_back();
  // The first document is the specification for the others, so it is changed most often.
  for (size_t times = 1 + mutation.index(3); times > 0; --times) {
    bson::Document& one = changed[mutation.chance(3) ? mutation.index(changed.size()) : 0];
    one = mutation.chance(16) ? mutation.example_document() : mutation.apply(one);
  }
  return write(changed, out, max_size);
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  if (seed % 16 == 0) return LLVMFuzzerMutate(data, size, max_size);
  const std::vector<bson::View> documents = documents_in({data, size});
  return mutate(documents, documents, data, max_size, seed);
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t* data, size_t size, const uint8_t* other,
                                            size_t other_size, uint8_t* out, size_t max_size,
                                            unsigned seed) {
  return mutate(documents_in({data, size}), documents_in({other, other_size}), out, max_size, seed);
}
