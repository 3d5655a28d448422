// Runs sentences that are to hold, one after the other, and tells the server which did.
sap.ui.define([], function () {
  "use strict";

  const MS_MAX = 30000;

  function equal(found, expected, what) {
    const [left, right] = [JSON.stringify(found), JSON.stringify(expected)];
    if (left !== right) throw new Error(`${what ?? "found"}: ${left}, not ${right}`);
  }

  function check(holds, what) {
    if (!holds) throw new Error(what);
  }

  /** What `promise` fails with; that it does not is the failure. */
  async function refused(promise) {
    try {
      await promise;
    } catch (error) {
      return error;
    }
    throw new Error("it was not refused");
  }

  function within(promise) {
    let timer;
    const late = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer in ${MS_MAX} ms`)), MS_MAX);
    });
    return Promise.race([promise, late]).finally(() => clearTimeout(timer));
  }

  async function run(tests) {
    const results = [];
    for (const [name, test] of Object.entries(tests)) {
      try {
        await within(test());
        results.push({ name });
      } catch (error) {
        results.push({ name, error: `${error.message ?? error}\n${error.responseText ?? error.stack ?? ""}` });
      }
    }
    await fetch("/results", { method: "POST", body: JSON.stringify(results) });
  }

  return { check, equal, refused, run };
});
