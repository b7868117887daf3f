// An application for a collection of books. Source: "Schema Design by Example" (E. Stolfo). The slides'
// conditions on dotted names lack the quotes, and their projection has an underscore too many.
'use strict';

const gatsby = {
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
};

function fillLibrary() {
  db.authors.insertMany([
    { _id: 1, first_name: "F. Scott", last_name: "Fitzgerald" },
    { _id: 2, first_name: "Arthur", last_name: "Miller" },
  ]);
  db.users.insert({
    _id: 1,
    username: "craig.wilson@10gen.com",
    password: "slsjfk4odk84k209dlkdj90009283d"
  });
  db.books.insertMany([
    gatsby,
    { _id: 2, title: "This Side of Paradise", author: 1, notes: [ { user: 2, note: "..." } ] },
    { _id: 3, title: "The Crucible", author: 2, notes: [ { user: 1, note: "..." } ] },
  ]);
}

example('Some sample documents', () => {
  fillLibrary();
  same(db.authors.findOne(),
    { _id: 1, first_name: "F. Scott", last_name: "Fitzgerald" });
  assert.strictEqual(db.users.findOne().username, "craig.wilson@10gen.com");
  same(db.books.findOne(), gatsby);
});

example('Flexibility should be leveraged only when appropriate', () => {
  const everything = [
    { _id: 893, first_name: "Jim", last_name: "McJim" },
    { _id: "'66 mustang", make: "Ford", model: "Mustang", year: "1966" },
  ];
  db.everything.insertMany(everything);
  same(db.everything.find().toArray(), everything);
});

example('Example Application Queries', () => {
  fillLibrary();
  const author = db.authors.findOne({first_name: "F. Scott", last_name: "Fitzgerald"});
  assertIds(db.books.find({author: author._id}), [1, 2]);
  assertIds(db.books.find({title: "The Great Gatsby"}), [1]);
  assertIds(db.books.find({"notes.user": 1}), [1, 3]);
});

example('Schema Evolution for read-heavy use #1', () => {
  fillLibrary();
  const authors = db.authors.find( { first_name: /^f.*/i });
  const authorIds = authors.map((author) => author._id).toArray();
  assertIds(db.books.find({author: { $in: authorIds } }), [1, 2]);
  // "Partially Embedded Documents".
  db.books.update({ author: 1 }, { $set: { author: { author: 1, name: "F. Scott" } } },
    { multi: true });
  assertIds(db.books.find({"author.name": /^f.*/i }), [1, 2]);
});

example('Schema Evolution for read-heavy use #2', () => {
  fillLibrary();
  const notes = () => db.books.findOne({title: "The Great Gatsby"}, {notes: 1});
  same(notes(), {
    _id: 1,
    notes: [
      { user: 1, note: "One of the best..."},
      { user: 2, note: "It's hard to..."}
    ]
  });
  // "Take Advantage of Immutable Data".
  for (const [number, name] of [[1, "craig.wilson@10gen.com"], [2, "jmcjack@mcjack.com"]]) {
    db.books.updateMany({}, { $set: { "notes.$[n].user": name } },
      { arrayFilters: [ { "n.user": number } ] });
  }
  same(notes(), {
    _id: 1,
    notes: [
      { user: "craig.wilson@10gen.com", note: "One of the best..."},
      { user: "jmcjack@mcjack.com", note: "It's hard to..." }
    ]
  });
});

example('Schema Evolution for write-heavy use', () => {
  fillLibrary();
  const note = { user: "craig.wilson@10gen.com", note: "I did NOT like this book." };
  db.books.update({ _id: 1 }, { $push: { notes: note } })
  same(db.books.findOne({ _id: 1 }, { notes: { $slice: -1 } }).notes, [note]);
});

example('Take Advantage of Atomic Operations', () => {
  for (const [before, change, after] of [
    [{}, { $set: { a: 1 } }, { a: 1 }],
    [{ a: 1 }, { $unset: { a: "" } }, {}],
    [{ a: 1 }, { $inc: { a: 2 } }, { a: 3 }],
    [{ a: [1] }, { $push: { a: 2 } }, { a: [1, 2] }],
    [{ a: [1] }, { $pushAll: { a: [2, 3] } }, { a: [1, 2, 3] }],
    [{ a: [1, 2, 1] }, { $pull: { a: 1 } }, { a: [2] }],
    [{ a: [1, 2, 3, 1] }, { $pullAll: { a: [1, 3] } }, { a: [2] }],
    [{ a: 13 }, { $bit: { a: { and: NumberInt(10) } } }, { a: 8 }],
  ]) {
    db.c.deleteMany({});
    db.c.insert({ _id: 1, ...before });
    assert.strictEqual(db.c.update({ _id: 1 }, change).matchedCount, 1);
    same(db.c.findOne(), { _id: 1, ...after });
  }
});

example('Possible solution: Bucketing', () => {
  const note = { user: "craig.wilson@10gen.com", note: "I did NOT like this book." };
  for (let i = 0; i < 25; ++i) {
    const { upsertedCount } = db.bookNotes.update({
      book: 1,
      note_count: { $lt: 10 }
    }, {
      $inc: { note_count: 1 },
      $push: { notes: note },
      $set: { last_changed: new Date() }
    }, { upsert: true });
    assert.strictEqual(upsertedCount, i % 10 === 0 ? 1 : 0);
  }
  same(db.bookNotes.find().map((each) => each.note_count).toArray(), [10, 10, 5]);
});
