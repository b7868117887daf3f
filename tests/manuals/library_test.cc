// Goal: an application for a collection of books whose schema follows its queries. Source: "Schema
// Design by Example" (E. Stolfo). In the slides, conditions on dotted names lack the quotes.
#include "tests/manuals/manual_fixture.h"

namespace gridmount::manuals {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

constexpr Text kAuthor = R"({
  _id: 1,
  first_name: "F. Scott",
  last_name: "Fitzgerald"
})";

constexpr Text kUser = R"({
  _id: 1,
  username: "craig.wilson@10gen.com",
  password: "slsjfk4odk84k209dlkdj90009283d"
})";

constexpr Text kBook = R"({
  _id: 1,
  title: "The Great Gatsby",
  slug: "9781857150193-the-great-gatsby",
  author: 1,
  available: true,
  isbn: "9781857150193",
  pages: 176,
  publisher: {
    publisher_name: "Everyman's Library",
    date: ISODate("1991-09-19T00:00:00Z"),
    publisher_city: "London"
  },
  summary: "Set in the post-Great War...",
  subjects: ["Love stories", "1920s", "Jazz Age"],
  notes: [
    { user: 1, note: "One of the best..."},
    { user: 2, note: "It's hard to..."}
  ],
  language: "English"
})";

class Library : public Manual {
 protected:
  void SetUp() override {
    Manual::SetUp();
    insert("authors", kAuthor);
    insert("authors", R"({ _id: 2, first_name: "Arthur", last_name: "Miller" }
                         { _id: 3, first_name: "Henrik", last_name: "Ibsen" })");
    insert("users", kUser);
    insert("books", kBook);
    insert("books", R"(
      { _id: 2, title: "This Side of Paradise", author: 1, notes: [ { user: 2, note: "..." } ] }
      { _id: 3, title: "The Crucible", author: 2, notes: [ { user: 1, note: "..." } ] }
      { _id: 4, title: "A Doll's house", author: 3 })");
  }
};

// "Some sample documents": documents are found as they were inserted.
TEST_F(Library, SampleDocuments) {
  EXPECT_EQ(json(find_one("authors")), json(document(kAuthor)));
  EXPECT_EQ(json(find_one("users")), json(document(kUser)));
  EXPECT_EQ(json(find_one("books")), json(document(kBook)));
}

// "Flexibility should be leveraged only when appropriate."
TEST_F(Library, ACollectionOfEverything) {
  const Text everything = R"(
    {
      _id: 893,
      first_name: "Jim",
      last_name: "McJim"
    }
    {
      _id: "'66 mustang",
      make: "Ford",
      model: "Mustang",
      year: "1966"
    })";
  insert("everything", everything);
  EXPECT_EQ(find("everything"), json_each(everything));
}

// "Use Rich Documents (3 patterns)".
TEST_F(Library, RichDocuments) {
  EXPECT_EQ(count("books", R"({ "publisher.publisher_city": "London" })"), 1);
  EXPECT_EQ(count("books", R"({ subjects: "Jazz Age" })"), 1);
  EXPECT_EQ(count("books", R"({ "notes.note": /best/ })"), 1);
}

// "Example Application Queries".
TEST_F(Library, Queries) {
  const std::string author =
      field("authors", R"({ first_name: "F. Scott", last_name: "Fitzgerald" })", "_id");
  EXPECT_THAT(ids("books", "{ author: " + author + " }"), ElementsAre("1", "2"));
  EXPECT_THAT(ids("books", R"({ title: "The Great Gatsby" })"), ElementsAre("1"));
  EXPECT_THAT(ids("books", R"({ "notes.user": 1 })"), ElementsAre("1", "3"));
}

// "Schema Evolution for read-heavy use #1": books by the author's first name.
TEST_F(Library, ReadHeavy_AuthorsNameIsEmbedded) {
  Strings author_ids = ids("authors", "{ first_name: /^f.*/i }");
  EXPECT_THAT(author_ids, ElementsAre("1"));
  EXPECT_THAT(ids("books", "{ author: { $in: [ " + author_ids[0] + " ] } }"),
              ElementsAre("1", "2"));

  // The pattern "Partially Embedded Documents": every book gets the name as well.
  EXPECT_EQ(aggregate("books", R"([
      { $lookup: { from: "authors", localField: "author", foreignField: "_id", as: "by" } },
      { $set: { author: { author: "$author", name: { $first: "$by.first_name" } } } },
      { $unset: "by" },
      { $match: { "author.name": /^f.*/i } },
      { $project: { author: 1 } } ])"),
            json_each(R"({ _id: 1, author: { author: 1, name: "F. Scott" } }
                         { _id: 2, author: { author: 1, name: "F. Scott" } })"));
  for (const std::string id : {"1", "2", "3"}) {
    const std::string name = field("authors", "{ _id: " + id + " }", "first_name");
    engine::UpdateOptions all;
    all.multi = true;
    update("books", "{ author: " + id + " }",
           "{ $set: { author: { author: " + id + ", name: " + name + " } } }", all);
  }
  create_index("books", R"({ "author.name": 1 })");
  EXPECT_THAT(ids("books", R"({ "author.name": /^f.*/i })"), ElementsAre("1", "2"));
  // A pattern that ignores case has no range in the index, a pattern that heeds case has one.
  EXPECT_EQ(explain("books", R"({ "author.name": /^F.*/ })").documents, 2);
}

// "Schema Evolution for read-heavy use #2": a book's notes.
TEST_F(Library, ReadHeavy_UsersAreNamedByTheirNaturalKey) {
  EXPECT_EQ(find("books", R"({ title: "The Great Gatsby" })", {.projection = "{ notes: 1 }"}),
            json_each(R"({ _id: 1, notes: [ { user: 1, note: "One of the best..." },
                                            { user: 2, note: "It's hard to..." } ] })"));
  // "Take Advantage of Immutable Data": the name stands where the number was.
  engine::UpdateOptions elements;
  elements.multi = true;
  // A book without notes has no field for the name.
  EXPECT_THAT(try_update("books", "{ _id: 4 }", R"({ $set: { "notes.$[].user": "x" } })"),
              FailedWith(ErrorCode::kBadValue));
  const bson::Document one = array("[ { \"n.user\": 1 } ]");
  elements.array_filters = one;
  EXPECT_EQ(update("books", "{ notes: { $exists: true } }",
                   R"({ $set: { "notes.$[n].user": "craig.wilson@10gen.com" } })", elements)
                .modified,
            2);
  const bson::Document two = array("[ { \"n.user\": 2 } ]");
  elements.array_filters = two;
  update("books", "{ notes: { $exists: true } }",
         R"({ $set: { "notes.$[n].user": "jmcjack@mcjack.com" } })", elements);
  EXPECT_EQ(find("books", R"({ title: "The Great Gatsby" })", {.projection = "{ notes: 1 }"}),
            json_each(R"({ _id: 1, notes: [
                { user: "craig.wilson@10gen.com", note: "One of the best..." },
                { user: "jmcjack@mcjack.com", note: "It's hard to..." } ] })"));
}

// "Schema Evolution for read-heavy use #3": comments on notes, as a tree in one document.
TEST_F(Library, Comments_AsATreeInOneDocument) {
  insert("bookNotes", R"({
    _id: 1, book: 1, note_count: 1, last_changed: ISODate("2013-05-01"),
    notes: [{
      user: "a", note: "n",
      comments: [{
        user: "b", text: "first",
        replies: [{
          user: "c", text: "second",
          replies: [{ user: "d", text: "third", replies: [] }]
        }]
      }]
    }]
  })");
  // "Single document for all comments on a note", but "difficult to search": each level by itself.
  EXPECT_EQ(count("bookNotes", R"({ "notes.comments.text": "first" })"), 1);
  EXPECT_EQ(count("bookNotes", R"({ "notes.comments.text": "second" })"), 0);
  EXPECT_EQ(count("bookNotes", R"({ "notes.comments.replies.text": "second" })"), 1);
  EXPECT_EQ(count("bookNotes", R"({ "notes.comments.replies.replies.text": "third" })"), 1);
  // "Difficult to get back partial results".
  EXPECT_EQ(aggregate("bookNotes", R"([
      { $unwind: "$notes" }, { $unwind: "$notes.comments" }, { $unwind: "$notes.comments.replies" },
      { $replaceWith: "$notes.comments.replies" }, { $project: { user: 1, text: 1 } } ])"),
            json_each(R"({ user: "c", text: "second" })"));
  update("bookNotes", "{ _id: 1 }",
         R"({ $push: { "notes.0.comments.0.replies.0.replies": { user: "e", text: "fourth" } } })");
  EXPECT_EQ(
      count("bookNotes", R"({ "notes.comments.replies.replies.user": { $all: [ "d", "e" ] } })"),
      1);
}

// "Don't forget to think about indexes": multi-key and secondary ones.
TEST_F(Library, Indexes) {
  create_index("books", R"({ "notes.user": 1 })");
  create_index("books", "{ author: 1, title: 1 }");
  EXPECT_EQ(explain("books", R"({ "notes.user": 1 })").plan, "FETCH IXSCAN(notes.user_1)");
  EXPECT_EQ(explain("books", R"({ "notes.user": 1 })").documents, 2);
  const Explained sorted = explain("books", "{ author: 1 }", {.sort = "{ title: 1 }"});
  EXPECT_EQ(sorted.plan, "FETCH IXSCAN(author_1_title_1)");
  EXPECT_EQ(sorted.documents, 2);
}

// "Schema Evolution for write-heavy use": add notes to a book.
TEST_F(Library, WriteHeavy_Push) {
  update("books", "{ _id: 1 }", R"({ $push: { notes:
      { user: "craig.wilson@10gen.com", note: "I did NOT like this book." } } })");
  EXPECT_EQ(
      find("books", "{ _id: 1 }", {.projection = "{ _id: 0, notes: { $slice: -1 } , user: 1 }"}),
      json_each(R"({ notes: [ { user: "craig.wilson@10gen.com",
                                      note: "I did NOT like this book." } ] })"));
  EXPECT_EQ(count("books", "{ notes: { $size: 3 } }"), 1);
}

// "Possible Solution: Linking": notes in a collection of their own.
TEST_F(Library, WriteHeavy_Linking) {
  const int64_t bytes = collection("books")->stats(*snapshot())->document_bytes;
  for (int i = 0; i < 20; ++i) {
    insert("bookNotes", "{ _id: " + std::to_string(i) + R"(, book: 1, user: "u",
        date: ISODate("2013-05-01"), note: "..." })");
  }
  create_index("bookNotes", "{ book: 1, date: -1 }");
  EXPECT_EQ(count("bookNotes", "{ book: 1 }"), 20);
  EXPECT_EQ(find("bookNotes", "{ book: 1 }", {.sort = "{ date: -1 }", .limit = 5}).size(), 5U);
  // "Book document size is consistent".
  EXPECT_EQ(collection("books")->stats(*snapshot())->document_bytes, bytes);
}

// "Possible solution: Bucketing": at most ten notes in a document, by an upsert.
TEST_F(Library, WriteHeavy_Bucketing) {
  engine::UpdateOptions upsert;
  upsert.upsert = true;
  for (int i = 0; i < 25; ++i) {
    const engine::UpdateResult result = update("bookNotes", "{ book: 1, note_count: { $lt: 10 } }",
                                               R"({
        $inc: { note_count: 1 },
        $push: { notes: { user: "craig.wilson@10gen.com", note: "I did NOT like this book." } },
        $set: { last_changed: ISODate("2013-05-01") }
      })",
                                               upsert);
    EXPECT_EQ(result.upserted_id.has_value(), i % 10 == 0) << i;
    EXPECT_EQ(result.matched, i % 10 == 0 ? 0 : 1) << i;
  }
  EXPECT_EQ(
      find("bookNotes", "{}", {.projection = "{ _id: 0, book: 1, note_count: 1 }"}),
      json_each(
          "{ book: 1, note_count: 10 } { book: 1, note_count: 10 } { book: 1, note_count: 5 }"));
  EXPECT_EQ(aggregate("bookNotes",
                      R"([ { $match: { book: 1 } }, { $unwind: "$notes" }, { $count: "notes" } ])"),
            json_each("{ notes: 25 }"));
  EXPECT_EQ(count("bookNotes", R"({ $expr: { $eq: [ "$note_count", { $size: "$notes" } ] } })"), 3);
}

}  // namespace
}  // namespace gridmount::manuals
