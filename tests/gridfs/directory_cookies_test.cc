// Goal: a readdir cookie leads back to the position of its name, whatever was added or removed
// since.
// Method: a listing of numbers. Some are removed and added at random between seeks to any cookie
// that was ever returned. The seed is printed on failure.

#include "gridfs/namespace/directory_cookies.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "tests/gridfs/bucket_fixture.h"
#include "tests/must.h"

namespace gridmount::gridfs {
namespace {

class NumberListing {
 public:
  using Position = int64_t;  // behind this number; 0 is before all

  explicit NumberListing(std::set<int64_t>& numbers) : numbers_(numbers) {}

  struct Entry {
    int64_t number = 0;
    uint64_t cookie = 0;
  };
  std::optional<Entry> next() {
    const auto passed = must(pass());
    if (!passed) return std::nullopt;
    return Entry{passed->after, cookies_.issue(passed->hash, passed->after)};
  }
  void seek(uint64_t cookie) {
    must(cookies_.seek(
        cookie, [this](Position position) { place_ = position; }, [this] { return pass(); },
        [this]() -> Result<std::optional<uint64_t>> { return version_; }));
  }
  // To be called after each change of the numbers, unless the version is unknown.
  void set_version(std::optional<uint64_t> version) { version_ = version; }
  size_t passed() const { return passed_; }

 private:
  using Passed = HashedName<Position>;

  Result<std::optional<Passed>> pass() {
    const auto found = numbers_.upper_bound(place_);
    if (found == numbers_.end()) return std::optional<Passed>();
    ++passed_;
    place_ = *found;
    return std::optional(Passed{static_cast<uint64_t>(place_) * 0x9E3779B97F4A7C15U, place_});
  }

  std::set<int64_t>& numbers_;
  Position place_ = 0;
  size_t passed_ = 0;
  std::optional<uint64_t> version_;
  DirectoryCookies<Position> cookies_;
};

TEST(DirectoryCookiesTest, RandomSeeks_WithChanges) {
  const uint64_t seed = test_seed();
  SCOPED_TRACE("GRIDMOUNT_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  const auto below = [&](size_t limit) { return static_cast<size_t>(random() % limit); };
  std::set<int64_t> numbers;
  for (int64_t i = 1; i <= 3000; ++i) numbers.insert(i * 1000);
  NumberListing listing(numbers);
  struct Listed {
    NumberListing::Entry entry;
    int round = 0;
  };
  std::vector<Listed> all;
  // The rounds in which each number was shown, for numbers that were not removed since.
  std::map<int64_t, std::set<int>> shown;
  int round = 0;
  const auto note = [&](const NumberListing::Entry& entry) {
    all.push_back({entry, round});
    shown[entry.number].insert(round);
  };
  const auto read = [&](size_t count) {
    for (size_t i = 0; i < count; ++i) {
      const auto entry = listing.next();
      if (!entry) return;
      note(*entry);
    }
  };
  read(3000);
  for (round = 1; round < 3000; ++round) {
    for (size_t i = below(4); i > 0 && !numbers.empty(); --i) {
      if (below(2) == 0) {
        const auto number = static_cast<int64_t>(1 + below(3'000'000));
        if (numbers.insert(number).second) shown.erase(number);
      } else {
        numbers.erase(numbers.lower_bound(static_cast<int64_t>(below(2'900'000))));
      }
    }
    const auto [sought, sought_round] = all[below(all.size())];
    listing.seek(sought.cookie);
    const auto entry = listing.next();
    const auto behind = numbers.upper_bound(sought.number);
    if (entry && entry->number <= sought.number) {
      // A name that was not shown before the cookie's name may be shown after it.
      ASSERT_FALSE(shown[entry->number].contains(sought_round))
          << "doubled behind " << sought.number;
    } else {
      ASSERT_EQ(entry.has_value(), behind != numbers.end());
      if (entry) {
        ASSERT_EQ(entry->number, *behind) << "lost behind " << sought.number;
      }
    }
    if (entry) note(*entry);
    read(below(40));
  }
}

TEST(DirectoryCookiesTest, ListingAgain_GivesTheSameCookies) {
  std::set<int64_t> numbers;
  for (int64_t i = 1; i <= 1000; ++i) numbers.insert(i);
  NumberListing listing(numbers);
  std::vector<uint64_t> cookies;
  while (const auto entry = listing.next()) cookies.push_back(entry->cookie);
  listing.seek(0);
  size_t at = 0;
  while (const auto entry = listing.next()) ASSERT_EQ(entry->cookie, cookies[at++]);
  EXPECT_EQ(at, 1000U);
}

TEST(DirectoryCookiesTest, Seeks_PassOverOneInterval_InAFolderOfMillions) {
  using Cookies = DirectoryCookies<int64_t>;
  std::set<int64_t> numbers;
  for (int64_t i = 1; i <= 300'000; ++i) numbers.insert(i);
  NumberListing listing(numbers);
  std::vector<uint64_t> cookies;
  while (const auto entry = listing.next()) cookies.push_back(entry->cookie);
  std::mt19937_64 random(1);
  for (int i = 0; i < 1000; ++i) {
    const size_t at = static_cast<size_t>(random() % (cookies.size() - 1));
    const size_t before = listing.passed();
    listing.seek(cookies[at]);
    ASSERT_LE(listing.passed() - before, Cookies::kIntervalNames);
    ASSERT_EQ(listing.next()->number, static_cast<int64_t>(at) + 2);
  }
}

std::vector<uint64_t> all_cookies(std::set<int64_t>& numbers) {
  NumberListing listing(numbers);
  std::vector<uint64_t> cookies;
  while (const auto entry = listing.next()) cookies.push_back(entry->cookie);
  return cookies;
}

TEST(DirectoryCookiesTest, CookiesOfNobody_CostOnePass_UntilTheNumbersChange) {
  std::set<int64_t> numbers;
  for (int64_t i = 1; i <= 10'000; ++i) numbers.insert(i);
  NumberListing listing(numbers);
  std::mt19937_64 random(1);
  const auto seek_often = [&] {
    const size_t before = listing.passed();
    for (int i = 0; i < 100; ++i) {
      listing.seek(random() >> 2 | 1);
      EXPECT_EQ(listing.next()->number, 1);
    }
    return listing.passed() - before - 100;
  };
  listing.set_version(1);
  EXPECT_EQ(seek_often(), 10'000U);
  EXPECT_EQ(seek_often(), 0U);
  // The cookie of this number comes from another stream.
  numbers.insert(20'000);
  listing.set_version(2);
  listing.seek(all_cookies(numbers)[9'999]);
  EXPECT_EQ(listing.next()->number, 20'000);
  listing.seek(all_cookies(numbers)[10'000]);
  EXPECT_FALSE(listing.next());
  EXPECT_EQ(seek_often(), 0U);
  listing.set_version(3);
  EXPECT_EQ(seek_often(), 10'001U);
  // If nobody knows whether the numbers have changed, they are read each time.
  listing.set_version(std::nullopt);
  EXPECT_EQ(seek_often(), 10'001U * 100);
}

TEST(DirectoryCookiesTest, CookiesOfAnotherStream_CostOnePassAndABlockEach) {
  std::set<int64_t> numbers;
  for (int64_t i = 1; i <= 30'000; ++i) numbers.insert(i);
  const std::vector<uint64_t> cookies = all_cookies(numbers);
  NumberListing listing(numbers);
  std::mt19937_64 random(1);
  for (size_t round = 0; round < 1000; ++round) {
    listing.set_version(round);  // the numbers are the same, but the listing does not know that
    const size_t at = static_cast<size_t>(random() % (cookies.size() - 1));
    listing.seek(cookies[at]);
    ASSERT_EQ(listing.next()->number, static_cast<int64_t>(at) + 2);
  }
  EXPECT_LE(listing.passed(), 1000 + cookies.size() + 1000 * NameHashIndex<int64_t>::kBlockNames);
}

TEST(DirectoryCookiesTest, CookiesOfAnotherStream_LeadToTheirNumbers_WithChanges) {
  const uint64_t seed = test_seed();
  SCOPED_TRACE("GRIDMOUNT_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  std::set<int64_t> numbers;
  for (int64_t i = 1; i <= 2000; ++i) numbers.insert(static_cast<int64_t>(random() % 100'000) + 1);
  NumberListing other(numbers);
  NumberListing listing(numbers);
  const auto any_number = [&] {
    const auto found = numbers.lower_bound(static_cast<int64_t>(random() % 100'000));
    return found == numbers.end() ? *numbers.begin() : *found;
  };
  std::map<int64_t, uint64_t> cookies;
  std::set<int64_t> shown;  // by `listing` itself, which remembers where they were
  uint64_t version = 0;
  for (int round = 0; round < 2000; ++round) {
    if (round % 10 == 0) {
      for (int i = 0; i < 5; ++i) {
        numbers.erase(any_number());
        numbers.insert(static_cast<int64_t>(random() % 100'000) + 1);
      }
      listing.set_version(++version);
    }
    if (round % 100 == 0) {
      other.seek(0);
      while (const auto entry = other.next()) cookies[entry->number] = entry->cookie;
    }
    const auto sought =
        std::next(cookies.begin(), static_cast<ptrdiff_t>(random() % cookies.size()));
    listing.seek(sought->second);
    const auto entry = listing.next();
    const auto following = numbers.upper_bound(sought->first);
    // The listing may remember the position of a removed number that it has shown itself. The
    // cookie then leads to the number that followed that position, or to an earlier one.
    const bool is_remembered = !numbers.contains(sought->first) && shown.contains(sought->first) &&
                               (!entry || entry->number != *numbers.begin());
    if (is_remembered) {
      ASSERT_TRUE(following == numbers.end() || (entry && entry->number <= *following))
          << "behind " << sought->first;
    } else {
      const auto expected = numbers.contains(sought->first) ? following : numbers.begin();
      ASSERT_EQ(entry.has_value(), expected != numbers.end());
      if (entry) {
        ASSERT_EQ(entry->number, *expected) << "behind " << sought->first;
      }
    }
    if (entry) {
      shown.insert(entry->number);
    }
  }
}

TEST(NameHashIndexTest, MoreNamesThanAreKept_AreReadForEachSearch) {
  constexpr auto kKept = static_cast<int64_t>(NameHashIndex<int64_t>::kNamesMax);
  constexpr int64_t kNames = kKept + 1000;
  const auto hash_of_number = [](int64_t number) {
    return static_cast<uint64_t>(number) * 0x9E3779B97F4A7C15U;
  };
  NameHashIndex<int64_t> index;
  int64_t place = 0;
  int64_t passed = 0;
  const auto find = [&](uint64_t hash) {
    return must(index.find(
        hash, 1, [&](int64_t position) { place = position; },
        [&]() -> Result<std::optional<HashedName<int64_t>>> {
          if (place == kNames) return std::optional<HashedName<int64_t>>();
          ++passed;
          ++place;
          return std::optional(HashedName<int64_t>{hash_of_number(place), place});
        }));
  };
  EXPECT_EQ(find(hash_of_number(kNames)), kNames);
  EXPECT_EQ(std::exchange(passed, 0), kNames);
  EXPECT_EQ(find(hash_of_number(kKept - 5)), kKept - 5);
  EXPECT_LE(std::exchange(passed, 0), 64);
  EXPECT_EQ(find(hash_of_number(kKept + 5)), kKept + 5);
  EXPECT_EQ(std::exchange(passed, 0), 5);
  EXPECT_EQ(find(hash_of_number(kNames + 1)), std::nullopt);
  EXPECT_EQ(std::exchange(passed, 0), 1000);
}

}  // namespace
}  // namespace gridmount::gridfs
