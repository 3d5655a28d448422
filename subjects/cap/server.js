// CAP's own server, but on loopback only, and saying where it listens in the way that `tollgate run` waits for.
const cds = require('@sap/cds')
const express = require('express')

const HOST = '127.0.0.1'

module.exports = options => {
  const app = express()
  const listen = app.listen.bind(app)
  app.listen = port => listen(port, HOST)
  cds.on('listening', ({ server }) => console.log(`listening http://${HOST}:${server.address().port}`))
  return cds.server({ ...options, app })
}
