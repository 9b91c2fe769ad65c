import { createServer } from 'node:net'
import { describe, expect, test } from 'vitest'
import { createPost, hasNotConnected } from '../../src/service/post.js'

const post = createPost({ timeoutMs: 2_000, maxConnections: 1 })

async function failureOf(url: string): Promise<unknown> {
  return post(url, {}, '{}').catch((error: unknown) => error)
}

describe('nothing was sent', () => {
  test.each([
    ['a closed port', 'http://127.0.0.1:1/'],
    ['a name with two addresses', 'http://localhost:1/'],
    ['a name without an address', 'http://nothing.invalid/'],
    ['a socket that is not there', 'unix:/nowhere/door.sock'],
    ['a file in the place of a directory', 'unix:/dev/null/door.sock'],
  ])('to %s', async (_, url) => {
    expect(hasNotConnected(await failureOf(url))).toBe(true)
  })
})

test('a connection that is reset may have carried the post', async () => {
  const server = createServer((socket) => socket.once('data', () => socket.resetAndDestroy()))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const failure = await failureOf(`http://127.0.0.1:${port}/`)
  expect(failure).toMatchObject({ syscall: 'read' })
  expect(hasNotConnected(failure)).toBe(false)
  server.close()
})
