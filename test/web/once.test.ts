import { expect, it, vi } from 'vitest'
import { once } from '../../web/chain/once.js'

it('a question is asked once, also for callers that come before its answer', async () => {
  const ask = vi.fn(async () => ({}))
  const answer = once(ask)
  const [first, second] = await Promise.all([answer(), answer()])
  expect(second).toBe(first)
  expect(await answer()).toBe(first)
  expect(ask).toHaveBeenCalledTimes(1)
})

it('a question is asked again when it failed', async () => {
  const ask = vi.fn(async () => 'answer').mockRejectedValueOnce(new Error('away'))
  const answer = once(ask)
  const outcomes = await Promise.allSettled([answer(), answer()])
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(await answer()).toBe('answer')
  expect(ask).toHaveBeenCalledTimes(2)
})
