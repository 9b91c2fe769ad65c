import { expect, onTestFinished, test, vi } from 'vitest'
import { createChainHead } from '../../../src/server/timeline/chainHead.js'

test('the head is asked for only when nobody has told it lately', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => {
    vi.useRealTimers()
  })
  const [asked, told] = [
    { number: 7, hash: 'asked' },
    { number: 8, hash: 'told' },
  ]
  const head = vi.fn(async () => asked)
  const chainHead = createChainHead({ head })
  expect(await Promise.all([chainHead.current(), chainHead.current()])).toEqual([asked, asked])
  chainHead.note(told)
  vi.advanceTimersByTime(4_000)
  expect(await chainHead.current()).toBe(told)
  expect(head).toHaveBeenCalledTimes(1)
  vi.advanceTimersByTime(1_000)
  expect(await chainHead.current()).toBe(asked)
  expect(await chainHead.ask()).toBe(asked)
  expect(head).toHaveBeenCalledTimes(3)
})
