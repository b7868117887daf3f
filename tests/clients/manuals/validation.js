// Collections that check what is stored in them. Source: "Data Model Design for MongoDB", release
// 3.2.6, section "Document Validation".
'use strict';

const FAILED_VALIDATION = 121;
const contactRule = { $or:
  [
    { phone: { $type: "string" } },
    { email: { $regex: /@mongodb\.com$/ } },
    { status: { $in: [ "Unknown", "Incomplete" ] } }
  ]
};

example('Document Validation', () => {
  db.createCollection( "contacts", { validator: contactRule } )
  db.contacts.insert({ _id: 1, phone: "+1 555 123 456" });
  db.contacts.insert({ _id: 2, email: "anne@mongodb.com" });
  db.contacts.insert({ _id: 3, status: "Unknown" });
  refused(FAILED_VALIDATION, () => db.contacts.insert({ phone: 5551234 }));
  refused(FAILED_VALIDATION, () => db.contacts.insert({ email: "anne@mongodbxcom" }));
  refused(FAILED_VALIDATION, () => db.contacts.update({ _id: 1 }, { $set: { phone: 1 } }));
  assert.strictEqual(db.contacts.count(), 3);
  const [info] = db.getCollectionInfos({ name: "contacts" });
  same(info.options.validator.$or[0], { phone: { $type: "string" } });
});

example('Existing Documents', () => {
  db.contacts.insert([
    {
      "_id": "125876",
      "name": "Anne",
      "phone": "+1 555 123 456",
      "city": "London",
      "status": "Complete"
    },
    {
      "_id": "860000",
      "name": "Ivan",
      "city": "Vancouver"
    }
  ])
  db.runCommand( {
    collMod: "contacts",
    validator: { $or: [ { phone: { $exists: true } }, { email: { $exists: true } } ] },
    validationLevel: "moderate"
  } )
  refused(FAILED_VALIDATION, () => db.contacts.update({ _id: "125876" }, { $unset: { phone: "" } }));
  assert.strictEqual(
    db.contacts.update({ _id: "860000" }, { $set: { city: "Toronto" } }).modifiedCount, 1);
  refused(FAILED_VALIDATION, () => db.contacts.insert({ name: "Ivan" }));
  db.runCommand({ collMod: "contacts", validationLevel: "strict" });
  refused(FAILED_VALIDATION,
    () => db.contacts.update({ _id: "860000" }, { $set: { city: "Paris" } }));
});

example('Accept or Reject Invalid Documents', () => {
  db.createCollection( "contacts", { validator: contactRule, validationAction: "warn" } )
  db.contacts.insert( { name: "Amanda", status: "Updated" } )
  assert.strictEqual(db.contacts.count({ name: "Amanda" }), 1);
});

example('Restrictions and Bypass', () => {
  for (const name of ["admin", "local", "config"]) {
    refused(72, () => db.getSiblingDB(name).createCollection("contacts", { validator: contactRule }));
  }
  db.createCollection( "contacts", { validator: contactRule } )
  const bypassed = db.runCommand({
    insert: "contacts", documents: [{ _id: 1 }], bypassDocumentValidation: true,
  });
  assert.strictEqual(bypassed.n, 1);
});
