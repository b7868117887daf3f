// Runs all the tests of this folder, in one process and one after the other.
'use strict';
for (const name of ['crud', 'indexes', 'cursors', 'gridfs', 'security']) require(`./${name}_test.js`);
