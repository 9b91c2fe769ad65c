import { expect, test } from 'vitest'
import { createSlots } from '../../../src/server/async/slots.js'

test('lets so many in, and the others in order of arrival as somebody leaves', async () => {
  const slots = createSlots(1)
  const entered: string[] = []
  const enter = async (name: string) => {
    expect(await slots.take()).toBe(true)
    entered.push(name)
  }
  await enter('first')
  const others = [enter('second'), enter('third')]
  expect(slots.waiting()).toBe(2)
  slots.leave()
  await others[0]
  expect(entered).toEqual(['first', 'second'])
  slots.leave()
  await others[1]
  expect(entered).toEqual(['first', 'second', 'third'])
})

test('who waits too long goes away empty-handed, and takes nothing from those behind', async () => {
  const slots = createSlots(1)
  expect(await slots.take()).toBe(true)
  const patient = slots.take(60_000)
  expect(await slots.take(1)).toBe(false)
  expect(slots.waiting()).toBe(1)
  slots.leave()
  expect(await patient).toBe(true)
  slots.leave()
  expect(await slots.take(0)).toBe(true)
})

test('what is there already takes room, whether or not there is any, and nobody gets in before it leaves', async () => {
  const slots = createSlots(1)
  slots.occupy()
  slots.occupy()
  expect(slots.isFull()).toBe(true)
  const waiting = slots.take()
  slots.leave()
  expect(slots.waiting()).toBe(1)
  slots.leave()
  expect(await waiting).toBe(true)
  expect(slots.isFull()).toBe(true)
  slots.leave()
  expect(slots.isFull()).toBe(false)
})
