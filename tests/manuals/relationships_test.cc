// Goal: relationships between documents, embedded and by reference. Sources: "Data Model Design for
// MongoDB", releases 2.4.9 and 3.2.6, sections "Data Model Design" and "Model Relationships Between
// Documents"; "Data Modeling", section "Patterns and Examples".
#include "tests/manuals/manual_fixture.h"

namespace gridmount::manuals {
namespace {

using ::testing::ElementsAre;

using Relationships = Manual;

constexpr Text kPatron = R"({
  _id: "joe",
  name: "Joe Bookreader"
})";

// "Model One-to-One Relationships with Embedded Documents": the normalized model.
TEST_F(Relationships, OneToOne_Normalized_TakesTwoQueries) {
  insert("patron", kPatron);
  insert("address", R"({
    patron_id: "joe",
    street: "123 Fake Street",
    city: "Faketon",
    state: "MA",
    zip: "12345"
  })");
  const std::string id = field("patron", R"({ name: "Joe Bookreader" })", "_id");
  EXPECT_EQ(find("address", "{ patron_id: " + id + " }", {.projection = "{ _id: 0 }"}),
            json_each(R"({ patron_id: "joe", street: "123 Fake Street", city: "Faketon",
                           state: "MA", zip: "12345" })"));
}

// The same section: the embedded model.
TEST_F(Relationships, OneToOne_Embedded_TakesOneQuery) {
  const Text patron = R"({
    _id: "joe",
    name: "Joe Bookreader",
    address: {
      street: "123 Fake Street",
      city: "Faketon",
      state: "MA",
      zip: "12345"
    }
  })";
  insert("patron", patron);
  EXPECT_EQ(find("patron", R"({ _id: "joe" })"), json_each(patron));
  // "Embedded Data Models": dot notation reaches into embedded documents.
  EXPECT_EQ(count("patron", R"({ "address.city": "Faketon" })"), 1);
  EXPECT_EQ(
      find("patron", R"({ "address.zip": "12345" })", {.projection = R"({ "address.state": 1 })"}),
      json_each(R"({ _id: "joe", address: { state: "MA" } })"));
  update("patron", R"({ _id: "joe" })", R"({ $set: { "address.city": "Boston" } })");
  EXPECT_EQ(field("patron", "{}", "address"),
            json(document(
                R"({ street: "123 Fake Street", city: "Boston", state: "MA", zip: "12345" })")));
}

// "Model One-to-Many Relationships with Embedded Documents": the normalized model. (The zip is a
// number in the older manuals.)
TEST_F(Relationships, OneToMany_Normalized_TakesAQueryForTheAddresses) {
  insert("patron", kPatron);
  insert("address", R"(
    { patron_id: "joe", street: "123 Fake Street", city: "Faketon", state: "MA", zip: 12345 }
    { patron_id: "joe", street: "1 Some Other Street", city: "Boston", state: "MA", zip: 12345 }
    { patron_id: "ann", street: "2 Some Other Street", city: "Boston", state: "MA", zip: 12345 })");
  EXPECT_EQ(find("address", R"({ patron_id: "joe" })", {.projection = "{ _id: 0, city: 1 }"}),
            json_each(R"({ city: "Faketon" } { city: "Boston" })"));
  // The manual needs several queries. Today one stage is enough.
  EXPECT_EQ(aggregate("patron", R"([
      { $lookup: { from: "address", localField: "_id", foreignField: "patron_id", as: "addresses" } },
      { $project: { "addresses.city": 1 } } ])"),
            json_each(R"({ _id: "joe", addresses: [ { city: "Faketon" }, { city: "Boston" } ] })"));
}

// The same section: the embedded model.
TEST_F(Relationships, OneToMany_Embedded_TakesOneQuery) {
  const Text patron = R"({
    _id: "joe",
    name: "Joe Bookreader",
    addresses: [
      {
        street: "123 Fake Street",
        city: "Faketon",
        state: "MA",
        zip: "12345"
      },
      {
        street: "1 Some Other Street",
        city: "Boston",
        state: "MA",
        zip: "12345"
      }
    ]
  })";
  insert("patron", patron);
  EXPECT_EQ(find("patron", R"({ _id: "joe" })"), json_each(patron));
  EXPECT_EQ(count("patron", R"({ "addresses.city": "Boston" })"), 1);
  EXPECT_EQ(count("patron", R"({ "addresses.1.city": "Boston" })"), 1);
  EXPECT_EQ(count("patron", R"({ "addresses.0.city": "Boston" })"), 0);
  // The first filter may match two addresses. With $elemMatch, one address must match both
  // conditions.
  EXPECT_EQ(count("patron", R"({ "addresses.city": "Boston", "addresses.street": /^123/ })"), 1);
  EXPECT_EQ(count("patron", R"({ addresses: { $elemMatch: { city: "Boston", street: /^123/ } } })"),
            0);
  // Related data in a single atomic write.
  update("patron", R"({ "addresses.city": "Boston" })",
         R"({ $set: { name: "Joe", "addresses.$.zip": "02108" } })");
  EXPECT_EQ(find("patron", "{}", {.projection = R"({ _id: 0, name: 1, "addresses.zip": 1 })"}),
            json_each(R"({ name: "Joe", addresses: [ { zip: "12345" }, { zip: "02108" } ] })"));
}

// "Model One-to-Many Relationships with Document References": the publisher in every book.
TEST_F(Relationships, Publisher_InEachBook_IsRepeated) {
  insert("books", R"(
    {
      title: "MongoDB: The Definitive Guide",
      author: [ "Kristina Chodorow", "Mike Dirolf" ],
      published_date: ISODate("2010-09-24"),
      pages: 216,
      language: "English",
      publisher: {
        name: "O'Reilly Media",
        founded: 1980,
        location: "CA"
      }
    }
    {
      title: "50 Tips and Tricks for MongoDB Developer",
      author: "Kristina Chodorow",
      published_date: ISODate("2011-05-06"),
      pages: 68,
      language: "English",
      publisher: {
        name: "O'Reilly Media",
        founded: 1980,
        location: "CA"
      }
    })");
  // Both books repeat the same publisher, so distinct() finds one.
  EXPECT_EQ(distinct("books", "publisher"),
            json_each(R"({ name: "O'Reilly Media", founded: 1980, location: "CA" })"));
  EXPECT_EQ(aggregate("books", R"([ { $group: { _id: "$publisher.name", books: { $sum: 1 },
                                                pages: { $sum: "$pages" } } } ])"),
            json_each(R"({ _id: "O'Reilly Media", books: 2, pages: 284 })"));
  // An author alone and an author among others are found by the same query.
  EXPECT_EQ(count("books", R"({ author: "Kristina Chodorow" })"), 2);
  EXPECT_EQ(count("books", R"({ author: "Mike Dirolf" })"), 1);
  EXPECT_EQ(count("books", R"({ published_date: { $lt: ISODate("2011-01-01") } })"), 1);
}

constexpr Text kBooks = R"(
  {
    _id: 123456789,
    title: "MongoDB: The Definitive Guide",
    author: [ "Kristina Chodorow", "Mike Dirolf" ],
    published_date: ISODate("2010-09-24"),
    pages: 216,
    language: "English"
  }
  {
    _id: 234567890,
    title: "50 Tips and Tricks for MongoDB Developer",
    author: "Kristina Chodorow",
    published_date: ISODate("2011-05-06"),
    pages: 68,
    language: "English"
  })";

// The same section: the books in the publisher, a growing array.
TEST_F(Relationships, Books_InThePublisher) {
  insert("publishers", R"({
    name: "O'Reilly Media",
    founded: 1980,
    location: "CA",
    books: [ 123456789 ]
  })");
  insert("books", kBooks);
  update("publishers", R"({ name: "O'Reilly Media" })", "{ $push: { books: 234567890 } }");
  const std::string books = field("publishers", "{}", "books");
  EXPECT_EQ(books, "[ 123456789, 234567890 ]");
  EXPECT_THAT(ids("books", "{ _id: { $in: " + books + " } }"),
              ElementsAre("123456789", "234567890"));
  EXPECT_EQ(count("publishers", "{ books: 234567890 }"), 1);
  EXPECT_EQ(aggregate("publishers", R"([
      { $lookup: { from: "books", localField: "books", foreignField: "_id", as: "books" } },
      { $project: { _id: 0, "books.pages": 1 } } ])"),
            json_each("{ books: [ { pages: 216 }, { pages: 68 } ] }"));
}

// The same section: the publisher's reference in each book.
TEST_F(Relationships, PublisherReference_InEachBook) {
  insert("publishers", R"({
    _id: "oreilly",
    name: "O'Reilly Media",
    founded: 1980,
    location: "CA"
  })");
  insert("books", kBooks);
  engine::UpdateOptions all;
  all.multi = true;
  EXPECT_EQ(update("books", "{}", R"({ $set: { publisher_id: "oreilly" } })", all).modified, 2);
  insert("books", R"({ _id: 1, title: "Another", publisher_id: "another" })");
  create_index("books", "{ publisher_id: 1 }");

  // The reference is resolved by a follow-up query, either way.
  const std::string publisher = field("books", "{ _id: 234567890 }", "publisher_id");
  EXPECT_EQ(field("publishers", "{ _id: " + publisher + " }", "name"), "\"O'Reilly Media\"");
  EXPECT_THAT(ids("books", R"({ publisher_id: "oreilly" })"),
              ElementsAre("123456789", "234567890"));
  EXPECT_EQ(explain("books", R"({ publisher_id: "oreilly" })").documents, 2);
  EXPECT_EQ(aggregate("books", R"([
      { $match: { _id: 123456789 } },
      { $lookup: { from: "publishers", localField: "publisher_id", foreignField: "_id",
                   as: "publisher" } },
      { $unwind: "$publisher" },
      { $project: { _id: 0, title: 1, location: "$publisher.location" } } ])"),
            json_each(R"({ title: "MongoDB: The Definitive Guide", location: "CA" })"));
}

}  // namespace
}  // namespace gridmount::manuals
