// What identifies a document, what it is and may be, and the types of its values. Sources: "Object
// IDs"; "Data Model Design for MongoDB", release 2.4.9, sections "Documents", "ObjectId" and "BSON
// Types".
'use strict';

example('The BSON ObjectId Datatype', () => {
  const { insertedIds } = db.people.insert({ name: "joe" });
  assert.strictEqual(insertedIds[0].constructor.name, 'ObjectId');
  same(Object.keys(db.people.findOne()), ["_id", "name"]);
  db.people.insert({ name : "joe" , _id : ObjectId( "47cc67093475061e3d95369d" ) });
  const found = { _id : ObjectId( "47cc67093475061e3d95369d" ) , name : "joe" };
  same(db.people.findOne( { _id: ObjectId( "47cc67093475061e3d95369d" ) } ), found);
  same(db.people.findOne( { _id: new ObjectId( "47cc67093475061e3d95369d" ) } ), found);
});

example('ObjectId, section Examples', () => {
  db.c.insert({ _id: ObjectId("507f191e810c19729de860ea") });
  const { _id } = db.c.findOne();
  assert.strictEqual(_id.getTimestamp().toISOString(), "2012-10-17T20:46:22.000Z");
  assert.strictEqual(_id.toString(), "507f191e810c19729de860ea");
  refused(11000, () => db.c.insert({ _id: ObjectId("507f191e810c19729de860ea") }));
  db.c.insert({ _id: ObjectId("47cc67093475061e3d95369d") });
  db.c.insert({ _id: ObjectId("507f1f77bcf86cd799439011") });
  same(idsOf(db.c.find().sort({ _id: 1 })).map(String),
    ["47cc67093475061e3d95369d", "507f191e810c19729de860ea", "507f1f77bcf86cd799439011"]);
});

example('Sequence Numbers', () => {
  function counter(name) {
    var ret = db.counters.findAndModify({query:{_id:name}, update:{$inc : {next:1}}, "new":true, upsert:true});
    // ret == { "_id" : "users", "next" : 1 }
    return ret.next;
  }
  db.users.insert({_id:counter("users"), name:"Sarah C."}) // _id : 1
  db.users.insert({_id:counter("users"), name:"Bob D."}) // _id : 2
  same(db.users.find().toArray(),
    [{ _id: 1, name: "Sarah C." }, { _id: 2, name: "Bob D." }]);
  same(db.counters.findOne(), { _id: "users", next: 2 });
});

example('The _id Field', () => {
  for (const _id of [
    MinKey(), NumberDecimal("1.5"), 5.5, NumberLong("7"), "natural key", { a: 1, b: 2 },
    UUID("c8edabc3-f738-4ca3-b68d-ab92a91478a3"), true, ISODate("2012-10-15"), Timestamp(1, 2),
    MaxKey(),
  ]) {
    db.c.insert({ _id });
    assert.strictEqual(db.c.count({ _id }), 1);
    refused(11000, () => db.c.insert({ _id }));
  }
  // "The _id value may be of any type, other than arrays".
  refused(53, () => db.c.insert({ _id: [1] }));
  refused(66, () => db.c.update({ _id: true }, { $set: { _id: false } }));
  // Numbers of one value are one _id.
  refused(11000, () => db.c.insert({ _id: 7 }));
});

const turing = {
  _id: ObjectId("5099803df3f4948bd2f98391"),
  name: { first: "Alan", last: "Turing" },
  birth: new Date('Jun 23, 1912'),
  death: new Date('Jun 07, 1954'),
  contribs: [ "Turing machine", "Turing test", "Turingery" ],
  views : NumberLong("1250000")
};

example('Document Structure, and Dot Notation', () => {
  db.people.insert(turing);
  same(db.people.findOne(), turing);
  const [types] = db.people.aggregate([{ $project: {
    _id: { $type: "$_id" }, name: { $type: "$name" }, birth: { $type: "$birth" },
    contribs: { $type: "$contribs" }, views: { $type: "$views" } } }]).toArray();
  same(types,
    { _id: "objectId", name: "object", birth: "date", contribs: "array", views: "long" });
  assert.strictEqual(db.people.count({ "contribs.2": "Turingery" }), 1);
  assert.strictEqual(db.people.count({ "name.last": "Turing" }), 1);
  assert.strictEqual(db.people.count({ birth: { $lt: new Date(0) } }), 1);
});

example('Field Names and Limits', () => {
  refused(2, () => db.c.insertOne({ s: 'x'.repeat(16 * 1024 * 1024) }));
  db.c.insert({ b: 1, a: { y: 1, x: 2 }, _id: 1 });
  same(Object.keys(db.c.findOne()), ["_id", "b", "a"]);
  assert.strictEqual(db.c.count({ a: { y: 1, x: 2 } }), 1);
  assert.strictEqual(db.c.count({ a: { x: 2, y: 1 } }), 0);
});

example('BSON Types: numbers and order', () => {
  const values = [
    [-1, MinKey()], [10, null], [16, NumberInt(3)], [1, 4.5], [18, NumberLong("5")],
    [19, NumberDecimal("5.5")], [2, "text"], [3, { a: 1 }], [4, [[1]]],
    [5, BinData(0, "AAEC")], [7, ObjectId("507f191e810c19729de860ea")], [8, false],
    [9, ISODate("2012-10-15")], [17, Timestamp(5, 1)], [11, /a/i], [13, Code("x")], [127, MaxKey()],
  ];
  values.forEach(([_id, v]) => db.c.insert({ _id, v }));
  for (const [number] of values) {
    assertIds(db.c.find({ v: { $type: number } }), [number]);
  }
  const inOrder = values.map(([number]) => number);
  assertIds(db.c.find().sort({ v: 1 }), inOrder);
  db.c.createIndex({ v: 1 });
  assertIds(db.c.find().sort({ v: -1 }).hint("v_1"), [...inOrder].reverse());
  assert.strictEqual(db.c.count({ v: { $gt: 4 } }), 3);
});

example('BSON Types: timestamps and dates', () => {
  db.test.insert( { a: 1, ts: new Timestamp() } );
  assert.ok(db.test.findOne().ts.t > 1_000_000_000);
  var mydate1 = new Date();
  db.test.insert( { b: 1, mydate1 } );
  const found = db.test.findOne({ b: 1 });
  assert.strictEqual(found.mydate1.toString(), mydate1.toString());
  assert.strictEqual(found.mydate1.getMonth(), mydate1.getMonth());
});
