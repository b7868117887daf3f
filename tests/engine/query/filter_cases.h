// Tables for tests of filters: which documents a filter matches, and which filters are refused with
// which error.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/bson/builder.h"
#include "engine/query/filter/filter.h"
#include "tests/engine/query/parse_json.h"

namespace gridmount::query {

// Replaces a '~' at the beginning of a name with '$'. The JSON parser takes $regex with $options
// for a value, so the tests write ~regex and ~options.
inline bson::Document with_dollars(bson::View document) {
  const auto renamed = [](std::string_view key) {
    return key.starts_with('~') ? "$" + std::string(key.substr(1)) : std::string(key);
  };
  bson::Builder builder;
  for (const bson::Element element : document) {
    const std::string key = renamed(element.key);
    if (element.value.type() == bson::Type::kDocument) {
      builder.append(key, with_dollars(element.value.as_document()));
    } else if (element.value.type() == bson::Type::kArray) {
      builder.append_array(key, with_dollars(element.value.as_document()));
    } else {
      builder.append(key, element.value);
    }
  }
  return std::move(builder).finish();
}

inline bson::Document parse_filter_text(const std::string& json) {
  return with_dollars(parse_json(json));
}

inline Filter parse_filter_json(const std::string& json) {
  Result<Filter> filter = Filter::parse(parse_filter_text(json), {.explains_failures = true});
  if (!filter) throw std::runtime_error(json + ": " + filter.error().message());
  return *std::move(filter);
}

struct FilterCase {
  std::string filter;
  std::vector<std::string> matching;
  std::vector<std::string> others;
};

inline void check_filters(const std::vector<FilterCase>& cases) {
  for (const FilterCase& one : cases) {
    const Filter filter = parse_filter_json(one.filter);
    for (const std::string& document : one.matching) {
      EXPECT_TRUE(filter.matches(parse_json(document))) << one.filter << " on " << document;
    }
    for (const std::string& document : one.others) {
      EXPECT_FALSE(filter.matches(parse_json(document))) << one.filter << " on " << document;
    }
  }
}

struct RefusedFilter {
  std::string filter;
  int code;
  // The whole message, or its beginning if this ends with "...".
  std::string message;
};

inline void check_refused(const std::vector<RefusedFilter>& cases) {
  for (const RefusedFilter& one : cases) {
    const Result<Filter> filter = Filter::parse(parse_filter_text(one.filter));
    ASSERT_FALSE(filter) << one.filter;
    EXPECT_EQ(static_cast<int>(filter.error().code()), one.code)
        << one.filter << ": " << filter.error().message();
    std::string message = filter.error().message();
    std::string expected = one.message;
    if (expected.ends_with("...")) {
      expected.resize(expected.size() - 3);
      message = message.substr(0, expected.size());
    }
    EXPECT_EQ(message, expected) << one.filter;
  }
}

}  // namespace gridmount::query
