// Relationships between documents, embedded and by reference. Sources: "Data Model Design for
// MongoDB", releases 2.4.9 and 3.2.6, sections "Model Relationships Between Documents" and "Database
// References".
'use strict';

const joe = { _id: "joe", name: "Joe Bookreader" };

example('Model One-to-One Relationships: normalized', () => {
  db.patron.insert(joe);
  db.address.insert({
    patron_id: "joe",
    street: "123 Fake Street",
    city: "Faketon",
    state: "MA",
    zip: "12345"
  });
  const patron = db.patron.findOne({ name: "Joe Bookreader" });
  assert.strictEqual(db.address.findOne({ patron_id: patron._id }).city, "Faketon");
});

example('Model One-to-One Relationships with Embedded Documents', () => {
  const patron = {
    _id: "joe",
    name: "Joe Bookreader",
    address: {
      street: "123 Fake Street",
      city: "Faketon",
      state: "MA",
      zip: "12345"
    }
  };
  db.patron.insert(patron);
  same(db.patron.findOne({ _id: "joe" }), patron);
  same(db.patron.findOne({ "address.city": "Faketon" }, { "address.zip": 1 }),
    { _id: "joe", address: { zip: "12345" } });
});

example('Model One-to-Many Relationships: normalized', () => {
  db.patron.insert(joe);
  db.address.insertMany([
    { patron_id: "joe", street: "123 Fake Street", city: "Faketon", state: "MA", zip: 12345 },
    { patron_id: "joe", street: "1 Some Other Street", city: "Boston", state: "MA", zip: 12345 },
  ]);
  same(
    db.address.find({ patron_id: "joe" }, { _id: 0, city: 1 }).toArray(),
    [{ city: "Faketon" }, { city: "Boston" }]);
  same(
    db.patron.aggregate([
      { $lookup: { from: "address", localField: "_id", foreignField: "patron_id", as: "addresses" } },
      { $project: { "addresses.city": 1 } },
    ]).toArray(),
    [{ _id: "joe", addresses: [{ city: "Faketon" }, { city: "Boston" }] }]);
});

example('Model One-to-Many Relationships with Embedded Documents', () => {
  const patron = {
    _id: "joe",
    name: "Joe Bookreader",
    addresses: [
      { street: "123 Fake Street", city: "Faketon", state: "MA", zip: "12345" },
      { street: "1 Some Other Street", city: "Boston", state: "MA", zip: "12345" },
    ]
  };
  db.patron.insert(patron);
  same(db.patron.findOne(), patron);
  assert.strictEqual(db.patron.count({ "addresses.1.city": "Boston" }), 1);
  assert.strictEqual(
    db.patron.count({ addresses: { $elemMatch: { city: "Boston", street: /^123/ } } }), 0);
});

const books = [
  {
    _id: 123456789,
    title: "MongoDB: The Definitive Guide",
    author: [ "Kristina Chodorow", "Mike Dirolf" ],
    published_date: ISODate("2010-09-24"),
    pages: 216,
    language: "English"
  },
  {
    _id: 234567890,
    title: "50 Tips and Tricks for MongoDB Developer",
    author: "Kristina Chodorow",
    published_date: ISODate("2011-05-06"),
    pages: 68,
    language: "English"
  },
];
const oreilly = { name: "O'Reilly Media", founded: 1980, location: "CA" };

example('Model One-to-Many Relationships with Document References: repeated', () => {
  db.books.insertMany(books.map((book) => ({ ...book, publisher: oreilly })));
  same(db.books.distinct("publisher"), [oreilly]);
  assert.strictEqual(db.books.count({ author: "Kristina Chodorow" }), 2);
  assert.strictEqual(db.books.count({ published_date: { $lt: ISODate("2011-01-01") } }), 1);
});

example('Model One-to-Many Relationships with Document References: a growing array', () => {
  db.publishers.insert({ ...oreilly, books: [ 123456789, 234567890 ] });
  db.books.insertMany(books);
  assertIds(db.books.find({ _id: { $in: db.publishers.findOne().books } }),
    [123456789, 234567890]);
});

example('Model One-to-Many Relationships with Document References: in each book', () => {
  db.publishers.insert({ _id: "oreilly", ...oreilly });
  db.books.insertMany(books.map((book) => ({ ...book, publisher_id: "oreilly" })));
  const book = db.books.findOne({ _id: 234567890 });
  same(db.publishers.findOne({ _id: book.publisher_id }),
    { _id: "oreilly", ...oreilly });
  db.books.createIndex({ publisher_id: 1 });
  assert.strictEqual(plan(db.books.find({ publisher_id: "oreilly" })).keys, 2);
});

example('Manual References', () => {
  const original_id = ObjectId()
  db.places.insert({
    "_id": original_id,
    "name": "Broadway Center",
    "url": "bc.example.net"
  })
  db.people.insert({
    "name": "Erin",
    "places_id": original_id,
    "url": "bc.example.net/Erin"
  })
  const erin = db.people.findOne({ name: "Erin" });
  assert.strictEqual(db.places.findOne({ _id: erin.places_id }).name, "Broadway Center");
});

example('DBRefs', () => {
  const users = db.getSiblingDB("users");
  users.creators.insert({ _id: ObjectId("5126bc054aed4daf9e2ab772"), name: "Ann" });
  db.things.insert({
    "_id" : ObjectId("5126bbf64aed4daf9e2ab771"),
    // .. application fields
    "creator" : {
      "$ref" : "creators",
      "$id" : ObjectId("5126bc054aed4daf9e2ab772"),
      "$db" : "users"
    }
  });
  const { creator } = db.things.findOne();
  assert.strictEqual(creator.constructor.name, 'DBRef');
  same([creator.collection, creator.db], ["creators", "users"]);
  const resolved = db.getSiblingDB(creator.db).getCollection(creator.collection)
    .findOne({ _id: creator.oid });
  assert.strictEqual(resolved.name, "Ann");
  assert.strictEqual(db.things.count({ creator }), 1);
  assert.strictEqual(db.things.count({ "creator.$id": creator.oid }), 1);
  users.dropDatabase();
});
