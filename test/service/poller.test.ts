import { expect, test } from 'vitest'
import { createPoller } from '../../src/service/lifetime.js'
import { createLogLines } from '../support/logLines.js'

test('ticks at its start and again, one at a time, also after a failure', async () => {
  const log = createLogLines()
  let running = 0
  let ticks = 0
  let finish = () => {}
  const finished = new Promise<void>((resolve) => {
    finish = resolve
  })
  const poller = createPoller({
    name: 'poller',
    intervalMs: 1,
    logger: log.logger,
    async tick() {
      expect(++running).toBe(1)
      await new Promise((resolve) => setImmediate(resolve))
      running--
      if (++ticks === 2) throw new Error('canary')
      if (ticks === 5) finish()
    },
  })
  await poller.start()
  await finished
  await poller.stop()
  const after = ticks
  await new Promise((resolve) => setTimeout(resolve, 10))
  expect(ticks).toBe(after)
  expect(log.lines()).toMatchObject([{ service: 'poller', errorName: 'Error', msg: 'tick failed' }])
})

test('stop aborts the tick under way, waits for it, and cuts the pause short', async () => {
  const log = createLogLines()
  let ended = false
  const poller = createPoller({
    name: 'poller',
    intervalMs: 3_600_000,
    logger: log.logger,
    async tick(signal) {
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => setImmediate(resolve)))
      ended = true
      throw signal.reason
    },
  })
  await poller.start()
  await poller.stop()
  expect(ended).toBe(true)
  expect(log.lines()).toEqual([])

  const idle = createPoller({
    name: 'idle',
    intervalMs: 3_600_000,
    logger: log.logger,
    tick: async () => undefined,
  })
  await idle.start()
  await new Promise((resolve) => setImmediate(resolve))
  await idle.stop()
})
