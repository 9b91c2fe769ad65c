import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { closingWithConnection } from '../../../src/server/http/pipelined.js'
import { startServer } from '../../../src/server/server.js'
import { eventually } from '../../support/eventually.js'
import { createLogLines } from '../../support/logLines.js'
import { startRawServer } from '../../support/rawServer.js'
import { serverConfig } from '../../support/serverEnvironment.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'

const REQUEST = 'GET /market HTTP/1.1\r\nHost: localhost\r\n\r\n'

async function connectTo(port: number) {
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => {
    socket.destroy()
  })
  await once(socket, 'connect')
  return socket
}

test('every response of a connection closes with it, once', async () => {
  const begun: ServerResponse[] = []
  const closed: ServerResponse[] = []
  const url = await startRawServer(
    closingWithConnection((_req, res) => {
      begun.push(res)
      res.on('close', () => closed.push(res))
      if (begun.length === 1) res.end()
    }),
  )
  const socket = await connectTo(Number(new URL(url).port))
  socket.write(REQUEST.repeat(5))
  await eventually('all of them', () => begun.length === 5)
  await eventually('the first answer', () => closed.length === 1)
  socket.destroy()
  await eventually('the end of all', () => closed.length >= 5)
  expect(closed).toHaveLength(5)
  expect(new Set(closed)).toEqual(new Set(begun))
})

test('whoever pipelines requests and leaves takes no room for good, and each is logged', async () => {
  const log = createLogLines()
  // Of a node that takes connections and never answers.
  const rpcUrl = await startRawServer(() => undefined)
  const config = serverConfig({
    DATA_DIR: await temporaryDirectory(),
    RPC_URL: rpcUrl,
    RPC_TIMEOUT: '1m',
    MAX_UNDER_WAY: '10',
  })
  const server = await startServer(config, log.logger)
  onTestFinished(() => server.stop())
  const socket = await connectTo(server.port)
  const asked = `GET /org/0x${'11'.repeat(32)} HTTP/1.1\r\nHost: localhost\r\n\r\n`
  socket.write(asked.repeat(9))
  const status = async () => (await fetch(`http://127.0.0.1:${server.port}/openapi.json`)).status
  await eventually('no room', async () => (await status()) === 503)
  socket.destroy()
  await eventually('room', async () => (await status()) === 200)
  const aborted = () => log.lines().filter(({ msg, aborted: isAborted }) => msg === 'request' && isAborted)
  await eventually('a line for each', () => aborted().length === 9)
})
