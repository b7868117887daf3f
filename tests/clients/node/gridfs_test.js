// GridFSBucket both ways: what it stores is a file in the mount, and the other way round.
'use strict';
const assert = require('node:assert/strict');
const crypto = require('node:crypto');
const fs = require('node:fs');
const { pipeline } = require('node:stream/promises');
const { Readable } = require('node:stream');
const { describe, test, beforeEach } = require('node:test');
const { driver, connect, connectToSocket, inMount } = require('./client.js');

const client = connectToSocket();
const files = client.db('test');
const CHUNK = 255 * 1024;
const SIZES = [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 256 * 1024, 5_000_001];
let bucket;

describe('GridFS', () => {
  beforeEach(() => {
    bucket = new driver.GridFSBucket(files);
  });

  async function upload(name, data, options) {
    const stream = bucket.openUploadStream(name, options);
    await pipeline(Readable.from([data]), stream);
    return stream.id;
  }

  async function download(stream) {
    const parts = [];
    for await (const part of stream) parts.push(part);
    return Buffer.concat(parts);
  }

  test('Uploads are files in the mount', async () => {
    for (const size of SIZES) {
      const data = crypto.randomBytes(size);
      const name = `node/up/${size}`;
      const id = await upload(name, data, { metadata: { size } });
      assert.equal(fs.statSync(inMount(name)).size, size);
      assert.ok(fs.readFileSync(inMount(name)).equals(data), `${size} bytes`);
      await bucket.delete(id);
      assert.equal(fs.existsSync(inMount(name)), false);
    }
  });

  test('Files of the mount are downloaded', async () => {
    fs.mkdirSync(inMount('node/down'), { recursive: true });
    for (const size of SIZES) {
      const data = crypto.randomBytes(size);
      const name = `node/down/${size}`;
      fs.writeFileSync(inMount(name), data);
      assert.ok((await download(bucket.openDownloadStreamByName(name))).equals(data), `${size} bytes`);
      const [file] = await bucket.find({ filename: name }).toArray();
      assert.equal(file.length, size);
      assert.equal(file.md5, crypto.createHash('md5').update(data).digest('hex'));
      fs.unlinkSync(inMount(name));
      await assert.rejects(download(bucket.openDownloadStreamByName(name)), /FileNotFound/);
    }
  });

  test('Ranges are downloaded alone', async () => {
    const data = crypto.randomBytes(1_000_000);
    fs.writeFileSync(inMount('node-range'), data);
    for (const [start, end] of [[0, 10], [262_143, 262_145], [500_000, 999_999], [999_999, 1_000_000]]) {
      const part = await download(bucket.openDownloadStreamByName('node-range', { start, end }));
      assert.ok(part.equals(data.subarray(start, end)), `${start} to ${end}`);
    }
    fs.unlinkSync(inMount('node-range'));
  });

  test('Revisions have their order', async () => {
    for (let i = 0; i < 3; ++i) await upload('node-revised', Buffer.from(`revision ${i}`));
    for (const [revision, number] of [[0, 0], [1, 1], [-1, 2], [-2, 1]]) {
      const data = await download(bucket.openDownloadStreamByName('node-revised', { revision }));
      assert.equal(data.toString(), `revision ${number}`);
    }
    fs.appendFileSync(inMount('node-revised'), ' and more');
    const newest = await download(bucket.openDownloadStreamByName('node-revised'));
    assert.equal(newest.toString(), 'revision 2 and more');
    for await (const file of bucket.find({ filename: 'node-revised' })) await bucket.delete(file._id);
    assert.equal(fs.existsSync(inMount('node-revised')), false);
  });

  test('Renames and aborts show in the mount', async () => {
    const id = await upload('node-old', Buffer.alloc(600_000, 'x'), { chunkSizeBytes: 1000 });
    await bucket.rename(id, 'node-new');
    assert.equal(fs.existsSync(inMount('node-old')), false);
    fs.renameSync(inMount('node-new'), inMount('node-newer'));
    const [file] = await bucket.find({ _id: id }).toArray();
    assert.deepEqual([file.filename, file.chunkSize], ['node-newer', 1000]);
    await bucket.delete(id);
    await assert.rejects(bucket.delete(id), /File not found/);
    const stream = bucket.openUploadStream('node-never');
    stream.write(Buffer.alloc(1_000_000, 'y'));
    await new Promise((resolve) => setTimeout(resolve, 50));
    await stream.abort();
    assert.equal(fs.existsSync(inMount('node-never')), false);
    assert.equal(await files.collection('fs.chunks').countDocuments({ files_id: stream.id }), 0);
  });

  test('Compressed messages carry the same', async () => {
    const compressed = connect(encodeURIComponent(process.env.CLIENT_SOCKET), {
      compressors: ['zlib'],
    });
    bucket = new driver.GridFSBucket(compressed.db('test'));
    const data = Buffer.alloc(2_000_000, 'gridmount');
    const id = await upload('node-zlib', data);
    assert.ok(fs.readFileSync(inMount('node-zlib')).equals(data));
    assert.ok((await download(bucket.openDownloadStream(id))).equals(data));
    await bucket.delete(id);
  });

  test('Missing chunks are errors', async () => {
    const db = client.db('node');
    bucket = new driver.GridFSBucket(db, { bucketName: 'broken', chunkSizeBytes: 1000 });
    const id = await upload('f', Buffer.alloc(5000, 'z'));
    await db.collection('broken.chunks').deleteOne({ files_id: id, n: 2 });
    await assert.rejects(download(bucket.openDownloadStream(id)), /ChunkIsMissing/);
    await bucket.drop();
    assert.equal((await db.listCollections({ name: /^broken/ }).toArray()).length, 0);
  });
});
