import { expect, test } from 'vitest'
import { runsWithoutCancel } from './cancels.js'

const orderId = '0x11'
const stored = { sealed: { orderId }, cancel: { answer: 'stored', at: 100 } } as const

function job(runId: string, at: number, hasCancel: boolean) {
  return { runId, at, orderId, hasCancel }
}

test('one run may begin without a cancel that is being stored, and a second one is found', () => {
  const known = [job('a', 90, false), job('b', 95, false), job('c', 101, false), job('d', 120, true)]
  expect(runsWithoutCancel([stored], known)).toEqual([])
  expect(runsWithoutCancel([stored], [...known, job('c', 125, false)])).toEqual([])
  expect(runsWithoutCancel([stored], [...known, job('e', 130, false)])).toEqual([
    '2 runs of 0x11 began without its cancel',
  ])
})

test('a cancel that came too late changes no run', () => {
  const tooLate = { ...stored, cancel: { answer: 'too-late', at: 100 } } as const
  expect(runsWithoutCancel([tooLate], [job('a', 101, false), job('b', 102, false)])).toEqual([])
})
