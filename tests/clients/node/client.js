// What the tests with the Node driver begin with. The driver is the package that MONGODB_DRIVER names;
// NODE_PATH leads to it.
'use strict';
const path = require('node:path');
const { after } = require('node:test');
const assert = require('node:assert/strict');

const driver = require(process.env.MONGODB_DRIVER);

const REFUSAL_MS = 1000;
const clients = [];

function connect(address, options = {}) {
  const client = new driver.MongoClient(`mongodb://${address}`, {
    serverSelectionTimeoutMS: 10_000,
    ...options,
  });
  clients.push(client);
  return client;
}

after(async () => {
  await Promise.all(clients.map((client) => client.close()));
});

const connectToSocket = () => connect(encodeURIComponent(process.env.CLIENT_SOCKET));

// An empty database.
async function freshDatabase(client) {
  await client.db('node').dropDatabase();
  return client.db('node');
}

// Fails unless the promise is refused with this code, and this name where there is one.
async function assertCode(promise, code, codeName) {
  await assert.rejects(promise, (error) => {
    assert.equal(error.code, code, error.stack);
    if (codeName) assert.equal(error.codeName, codeName);
    return true;
  });
}

const password = process.env.CLIENT_PASSWORD;
const certificate = (name) => path.join(process.env.CLIENT_CERTIFICATES, name);
const inMount = (...names) => path.join(process.env.CLIENT_ROOT, ...names);

module.exports = {
  driver, connect, connectToSocket, freshDatabase, assertCode, password, certificate, inMount,
  REFUSAL_MS,
};
