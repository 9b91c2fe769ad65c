import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, it } from 'vitest'
import { claimPorts } from '../../src/sandbox/ports.js'

const takes = async (port: number) => {
  const server = createServer().listen(port, '127.0.0.1')
  await once(server, 'listening')
  server.close()
}

it('a process keeps the ports that it claims, and the others of its part, from other processes that claim some', async () => {
  const { server, rpc } = await claimPorts({ server: 0, rpc: 0 })
  expect(rpc).not.toBe(server)
  const part = Math.floor((32_768 - 10_000) / 64)
  const first = server - ((server - 10_000) % part)
  await expect(takes(first)).rejects.toMatchObject({ code: 'EADDRINUSE' })
  await takes(server)
})
