import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { withTimeout } from '../../src/service/waiting.js'

test('a limit that is longer than any timer is not over at once', async () => {
  const settle: ((value: string) => void)[] = []
  const waiting = withTimeout(new Promise<string>((resolve) => settle.push(resolve)), 2 ** 40)
  // Node's timer of 1 ms, in its place, has ended by then.
  await sleep(50)
  settle[0]?.('in time')
  expect(await waiting).toBe('in time')
})
