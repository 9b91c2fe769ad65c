import { expect, test } from 'vitest'
import { createLifetime, createPoller, type Service } from '../../src/service/lifetime.js'
import { createLogLines } from '../support/logLines.js'

function setUp(failing: Record<string, 'start' | 'stop'> = {}) {
  const events: string[] = []
  const services = ['a', 'b', 'c'].map((name): Service => {
    const act = (what: 'start' | 'stop') => async () => {
      events.push(`${what} ${name}`)
      if (failing[name] === what) throw new Error(`canary ${name}`)
    }
    return { name, start: act('start'), stop: act('stop') }
  })
  const log = createLogLines()
  return { events, log, lifetime: createLifetime(services, log.logger) }
}

test('starts in order and stops in reverse, once', async () => {
  const { events, lifetime } = setUp()
  await lifetime.start()
  await lifetime.stop()
  await lifetime.stop()
  expect(events).toEqual(['start a', 'start b', 'start c', 'stop c', 'stop b', 'stop a'])
})

test('a start that fails stops what was started and throws', async () => {
  const { events, lifetime } = setUp({ b: 'start' })
  await expect(lifetime.start()).rejects.toThrow('canary b')
  expect(events).toEqual(['start a', 'start b', 'stop b', 'stop a'])
})

test('a stop that fails is logged by name and holds up none of the others', async () => {
  const { events, log, lifetime } = setUp({ b: 'stop' })
  await lifetime.start()
  await lifetime.stop()
  expect(events.slice(3)).toEqual(['stop c', 'stop b', 'stop a'])
  expect(log.lines()).toMatchObject([{ service: 'b', errorName: 'Error' }])
  expect(log.text()).not.toContain('canary')
})

test('a poller that stops aborts the tick under way, waits for it, and cuts the pause short', async () => {
  const log = createLogLines()
  const options = { name: 'poller', intervalMs: 3_600_000, logger: log.logger }
  let ended = false
  const poller = createPoller({
    ...options,
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

  const idle = createPoller({ ...options, tick: async () => undefined })
  await idle.start()
  await new Promise((resolve) => setImmediate(resolve))
  await idle.stop()
})
