// Files that are larger than a document, by the collections that they are kept in. Source: "Data Model
// Design for MongoDB", release 2.4.9, sections "GridFS" and "GridFS Reference".
'use strict';

const files = db.getSiblingDB("test");
const inMount = (name) => path.join(process.env.CLIENT_ROOT, name);

example('A file of the mount, in the collections', () => {
  const content = Buffer.alloc(600_000, 'gridmount ');
  fs.writeFileSync(inMount("smithco"), content);
  const file = files.fs.files.findOne({ filename: "smithco" });
  // "Documents in the files collection contain some or all of the following fields".
  assert.strictEqual(Number(file.length), 600_000);
  assert.strictEqual(file._id.constructor.name, 'ObjectId');
  assert.ok(file.uploadDate instanceof Date);
  assert.strictEqual(file.md5, require('crypto').createHash('md5').update(content).digest('hex'));
  const myFileID = file._id;
  const cursor = files.fs.chunks.find({files_id: myFileID}).sort({n:1});
  const chunks = cursor.toArray();
  // "GridFS numbers all chunks, starting with 0."
  same(chunks.map((chunk) => chunk.n), [0, 1, 2]);
  assert.ok(Buffer.concat(chunks.map((chunk) => chunk.data.buffer)).equals(content));
  assert.strictEqual(plan(files.fs.chunks.find({files_id: myFileID}).sort({n:1})).stages,
    'FETCH IXSCAN(files_id_1_n_1)');
  // "If your driver does not create this index".
  files.fs.chunks.createIndex( { files_id: 1, n: 1 }, { unique: true } );
  refused(11000, () => files.fs.chunks.insert({ files_id: myFileID, n: 1 }));
  assert.strictEqual(files.runCommand({ filemd5: myFileID, root: "fs" }).md5, file.md5);
  fs.unlinkSync(inMount("smithco"));
  assert.strictEqual(files.fs.files.count({ filename: "smithco" }), 0);
  assert.strictEqual(files.fs.chunks.count({ files_id: myFileID }), 0);
});

example('Documents of the collections, as a file in the mount', () => {
  const _id = ObjectId();
  ["0123", "4567", "89"].forEach((data, n) => files.fs.chunks.insert({
    files_id: _id, n, data: BinData(0, Buffer.from(data).toString('base64')),
  }));
  files.fs.files.insert({
    _id, length: NumberLong(String(10)), chunkSize: 4, uploadDate: new Date(),
    filename: "shell/ten", contentType: "text/plain", metadata: { owner: "ann" },
  });
  assert.strictEqual(fs.readFileSync(inMount("shell/ten"), 'utf8'), "0123456789");
  files.fs.files.update({ _id }, { $set: { filename: "shell/other" } });
  assert.strictEqual(fs.existsSync(inMount("shell/ten")), false);
  assert.strictEqual(fs.readFileSync(inMount("shell/other"), 'utf8'), "0123456789");
  files.fs.files.deleteOne({ _id });
  files.fs.chunks.deleteMany({ files_id: _id });
  same(fs.readdirSync(process.env.CLIENT_ROOT), []);
});

example('Buckets', () => {
  const contracts = files.getCollection("contracts.files");
  contracts.insert({ _id: 1, length: 0, chunkSize: 4, uploadDate: new Date(), filename: "empty" });
  files.getCollection("contracts.chunks").createIndex({ files_id: 1, n: 1 }, { unique: true });
  contracts.createIndex({ filename: 1, uploadDate: 1 });
  const folder = path.join(process.env.CLIENT_ROOT, "..", "contracts");
  same(fs.readdirSync(folder), ["empty"]);
  assert.strictEqual(fs.statSync(path.join(folder, "empty")).size, 0);
  contracts.drop();
  files.getCollection("contracts.chunks").drop();
});
