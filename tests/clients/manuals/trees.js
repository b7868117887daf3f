// The five ways to keep a tree in documents. Sources: "Data Model Design for MongoDB", releases 2.4.9
// and 3.2.6, section "Model Tree Structures"; "Data Modeling", section "Trees".
'use strict';

example('Model Tree Structures with Parent References', () => {
  db.categories.insert( { _id: "MongoDB", parent: "Databases" } )
  db.categories.insert( { _id: "dbm", parent: "Databases" } )
  db.categories.insert( { _id: "Databases", parent: "Programming" } )
  db.categories.insert( { _id: "Languages", parent: "Programming" } )
  db.categories.insert( { _id: "Programming", parent: "Books" } )
  db.categories.insert( { _id: "Books", parent: null } )
  // "The query to retrieve the parent of a node".
  assert.strictEqual(db.categories.findOne( { _id: "MongoDB" } ).parent, "Databases");
  const children = { parent: "Databases" };
  same(plan(db.categories.find(children)),
    { stages: 'COLLSCAN', keys: 0, documents: 6 });
  db.categories.createIndex( { parent: 1 } )
  // "to find its immediate children nodes".
  assertIds(db.categories.find( { parent: "Databases" } ), ["MongoDB", "dbm"]);
  same(plan(db.categories.find(children)),
    { stages: 'FETCH IXSCAN(parent_1)', keys: 2, documents: 2 });
});

example('Model Tree Structures with Child References', () => {
  db.categories.insert( { _id: "MongoDB", children: [] } )
  db.categories.insert( { _id: "dbm", children: [] } )
  db.categories.insert( { _id: "Databases", children: [ "MongoDB", "dbm" ] } )
  db.categories.insert( { _id: "Languages", children: [] } )
  db.categories.insert( { _id: "Programming", children: [ "Databases", "Languages" ] } )
  db.categories.insert( { _id: "Books", children: [ "Programming" ] } )
  same(db.categories.findOne( { _id: "Databases" } ).children, ["MongoDB", "dbm"]);
  db.categories.createIndex( { children: 1 } )
  // "to find its parent node as well as its siblings".
  same(db.categories.find( { children: "MongoDB" } ).toArray(),
    [{ _id: "Databases", children: [ "MongoDB", "dbm" ] }]);
  // "graphs where a node may have multiple parents".
  db.categories.update({ _id: "Languages" }, { $push: { children: "dbm" } });
  assertIdsInAnyOrder(db.categories.find({ children: "dbm" }), ["Databases", "Languages"]);
});

example('Model Tree Structures with an Array of Ancestors', () => {
  db.categories.insert( { _id: "MongoDB", ancestors: [ "Books", "Programming", "Databases" ], parent: "Databases" } )
  db.categories.insert( { _id: "dbm", ancestors: [ "Books", "Programming", "Databases" ], parent: "Databases" } )
  db.categories.insert( { _id: "Databases", ancestors: [ "Books", "Programming" ], parent: "Programming" } )
  db.categories.insert( { _id: "Languages", ancestors: [ "Books", "Programming" ], parent: "Programming" } )
  db.categories.insert( { _id: "Programming", ancestors: [ "Books" ], parent: "Books" } )
  db.categories.insert( { _id: "Books", ancestors: [ ], parent: null } )
  same(db.categories.findOne( { _id: "MongoDB" } ).ancestors,
    [ "Books", "Programming", "Databases" ]);
  const descendants = ["MongoDB", "dbm", "Databases", "Languages"];
  assertIds(db.categories.find( { ancestors: "Programming" } ), descendants);
  db.categories.createIndex( { ancestors: 1 } )
  assertIds(db.categories.find( { ancestors: "Programming" } ), descendants);
  assert.strictEqual(plan(db.categories.find( { ancestors: "Programming" } )).stages,
    'FETCH IXSCAN(ancestors_1)');
});

example('Model Tree Structures with Materialized Paths', () => {
  db.categories.insert( { _id: "Books", path: null } )
  db.categories.insert( { _id: "Programming", path: ",Books," } )
  db.categories.insert( { _id: "Databases", path: ",Books,Programming," } )
  db.categories.insert( { _id: "Languages", path: ",Books,Programming," } )
  db.categories.insert( { _id: "MongoDB", path: ",Books,Programming,Databases," } )
  db.categories.insert( { _id: "dbm", path: ",Books,Programming,Databases," } )
  const tree = ["Books", "Programming", "Databases", "Languages", "MongoDB", "dbm"];
  for (const indexed of [false, true]) {
    if (indexed) db.categories.createIndex( { path: 1 } )
    assertIds(db.categories.find().sort( { path: 1 } ), tree);
    assertIds(db.categories.find( { path: /,Programming,/ } ), tree.slice(2));
    assertIds(db.categories.find( { path: /^,Books,/ } ), tree.slice(1));
    assertIds(db.categories.find( { path: /,Databases,/ } ), ["MongoDB", "dbm"]);
  }
  assert.strictEqual(plan(db.categories.find( { path: /^,Books,Programming,/ } )).documents, 4);
});

example('Materialized Paths without a comma at the front', () => {
  db.categories.insert( { _id: "Books", path: null } )
  db.categories.insert( { _id: "Programming", path: "Books," } )
  db.categories.insert( { _id: "Databases", path: "Books,Programming," } )
  db.categories.insert( { _id: "Languages", path: "Books,Programming," } )
  db.categories.insert( { _id: "MongoDB", path: "Books,Programming,Databases," } )
  db.categories.insert( { _id: "Postgres", path: "Books,Programming,Databases," } )
  db.categories.createIndex( { path: 1 } )
  assertIds(db.categories.find().sort( { path: 1 } ),
    ["Books", "Programming", "Databases", "Languages", "MongoDB", "Postgres"]);
  assertIdsInAnyOrder(db.categories.find( { path: /,Programming,/ } ),
    ["Databases", "Languages", "MongoDB", "Postgres"]);
});

example('Model Tree Structures with Nested Sets', () => {
  db.categories.insert( { _id: "Books", parent: 0, left: 1, right: 12 } )
  db.categories.insert( { _id: "Programming", parent: "Books", left: 2, right: 11 } )
  db.categories.insert( { _id: "Languages", parent: "Programming", left: 3, right: 4 } )
  db.categories.insert( { _id: "Databases", parent: "Programming", left: 5, right: 10 } )
  db.categories.insert( { _id: "MongoDB", parent: "Databases", left: 6, right: 7 } )
  db.categories.insert( { _id: "dbm", parent: "Databases", left: 8, right: 9 } )
  var databaseCategory = db.categories.findOne( { _id: "Databases" } );
  assertIds(
    db.categories.find( { left: { $gt: databaseCategory.left }, right: { $lt: databaseCategory.right } } ),
    ["MongoDB", "dbm"]);
});

// "Schema Design by Example", section "Maybe store arrays of ancestors?".
example('Maybe store arrays of ancestors?', () => {
  const tree = [
    { _id: "a" },
    { _id: "b", ancestors: [ "a" ], parent: "a" },
    { _id: "c", ancestors: [ "a", "b" ], parent: "b" },
    { _id: "d", ancestors: [ "a", "b" ], parent: "b" },
    { _id: "e", ancestors: [ "a" ], parent: "a" },
    { _id: "f", ancestors: [ "a", "e" ], parent: "e" },
    { _id: "g", ancestors: [ "a", "b", "d" ], parent: "d" },
  ];
  const t = db.mytree;
  t.insertMany(tree);
  same(t.find().toArray(), tree);
  assertIds(t.find({ ancestors: "b" }), ["c", "d", "g"]);
  assertIds(t.find({ parent: "b" }), ["c", "d"]);
});
