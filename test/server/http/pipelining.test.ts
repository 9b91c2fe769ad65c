import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { onTestFinished, test } from 'vitest'
import { startServer } from '../../../src/server/server.js'
import { eventually } from '../../support/eventually.js'
import { createLogLines } from '../../support/logLines.js'
import { startRawServer } from '../../support/rawServer.js'
import { serverConfig } from '../../support/serverEnvironment.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'

test('a client that pipelines requests and leaves gives their room back, and each is logged', async () => {
  const log = createLogLines()
  // A node that accepts connections and does not answer, until the test has ended.
  const asked = new Set<ServerResponse>()
  let isOver = false
  const rpcUrl = await startRawServer((_req, res) => {
    if (isOver) res.destroy()
    else asked.add(res)
  })
  const config = serverConfig({
    DATA_DIR: await temporaryDirectory(),
    RPC_URL: rpcUrl,
    RPC_TIMEOUT: '1m',
    MAX_UNDER_WAY: '10',
    MAX_UNDER_WAY_PER_CLIENT: '10',
  })
  const server = await startServer(config, log.logger)
  onTestFinished(() => {
    isOver = true
    for (const res of asked) res.destroy()
    // Waits for what the server has asked the node.
    return server.stop()
  })
  const socket = connect(server.port, '127.0.0.1')
  await once(socket, 'connect')
  const request = `GET /org/0x${'11'.repeat(32)} HTTP/1.1\r\nHost: localhost\r\n\r\n`
  socket.write(request.repeat(9))
  const status = async () => (await fetch(`http://127.0.0.1:${server.port}/openapi.json`)).status
  await eventually('no room', async () => (await status()) === 503)
  socket.destroy()
  await eventually('room', async () => (await status()) === 200)
  const aborted = () => log.lines().filter(({ msg, aborted: isAborted }) => msg === 'request' && isAborted)
  await eventually('a line for each', () => aborted().length === 9)
})
