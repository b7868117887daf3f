// What the manuals' examples are written with. mongosh loads it before them, and all of them in one
// scope.
'use strict';
const assert = require('assert');
const fs = require('fs');
const path = require('path');

// An example begins with an empty database.
function example(title, run) {
  db.dropDatabase();
  try {
    run();
  } catch (error) {
    throw new Error(`${title}: ${error.stack}`);
  }
  print(`ok: ${title}`);
}

// The server must refuse it with this code.
function refused(code, run) {
  let met;
  try {
    run();
  } catch (error) {
    met = error;
  }
  assert.ok(met, `expected code ${code}, and it was done`);
  assert.strictEqual(met.code ?? met.writeErrors?.[0]?.code, code, met.stack);
}

// Equal values in the same order, whatever realm of the shell they were made in, and whatever type a
// number has.
function same(actual, expected) {
  assert.strictEqual(EJSON.stringify(actual), EJSON.stringify(expected));
}

const idsOf = (cursor) => cursor.toArray().map((each) => each._id);

function assertIds(cursor, expected) {
  same(idsOf(cursor), expected);
}
function assertIdsInAnyOrder(cursor, expected) {
  same(idsOf(cursor).sort(), [...expected].sort());
}

// "COLLSCAN", "FETCH IXSCAN(parent_1)": the stages, the last one first, and what they read.
function plan(cursor) {
  const explained = cursor.explain('executionStats');
  const stages = [];
  for (let stage = explained.queryPlanner.winningPlan; stage; stage = stage.inputStage) {
    stages.push(stage.indexName ? `${stage.stage}(${stage.indexName})` : stage.stage);
  }
  const { totalKeysExamined: keys, totalDocsExamined: documents } = explained.executionStats;
  return { stages: stages.join(' '), keys, documents };
}
