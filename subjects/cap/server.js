// CAP's own server, but on loopback only, and saying where it listens in the way that `tollgate run` waits for.
const cds = require('@sap/cds')
const express = require('express')

const HOST = '127.0.0.1'
// Node closes a connection that was idle for 5 s; between its turns of a run a connection is idle for longer.
const KEEP_ALIVE_MS = 600_000

module.exports = options => {
  const app = express()
  const listen = app.listen.bind(app)
  app.listen = port => listen(port, HOST)
  cds.on('listening', ({ server }) => {
    server.keepAliveTimeout = KEEP_ALIVE_MS
    console.log(`listening http://${HOST}:${server.address().port}`)
  })
  return cds.server({ ...options, app })
}
