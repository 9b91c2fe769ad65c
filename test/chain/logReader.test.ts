import { describe, expect, it } from 'vitest'
import { ChainAnswerError } from '../../src/chain/errors.js'
import { addressIn, hexOf, numberIn, numberOf, wordAt, wordOf } from '../../src/chain/logReader.js'

const word = (digits: string) => digits.padStart(64, '0')
const account = '5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'

describe('the fields of a log', () => {
  it('are read whatever their case', () => {
    expect(wordOf(`0x${'AB'.repeat(32)}`)).toBe(`0x${'ab'.repeat(32)}`)
    expect(hexOf('0x0aFF')).toBe('0x0aff')
    expect(numberOf('0x1F')).toBe(31)
    const data = `0x${word('1')}${word('ff')}`
    expect(wordAt(data, 1)).toBe(`0x${word('ff')}`)
    expect(numberIn(wordAt(data, 1))).toBe(255)
    expect(addressIn(`0x${word(account.toLowerCase())}`)).toBe(`0x${account}`)
  })

  it.each([
    ['a word that is too short', () => wordOf('0xab')],
    ['a word that is no hex', () => wordOf(`0x${'zz'.repeat(32)}`)],
    ['half a byte', () => hexOf('0xabc')],
    ['a number without digits', () => numberOf('0x')],
    ['a number that JavaScript does not hold', () => numberOf(`0x1${'0'.repeat(13)}`)],
    ['a word that the data do not have', () => wordAt(`0x${word('1')}`, 1)],
    ['a word with more than an address', () => addressIn(`0x${'1'.repeat(64)}`)],
    ['a word with more than a time', () => numberIn(`0x1${word('1').slice(1)}`)],
  ])('%s is refused', (_, read) => {
    expect(read).toThrow(ChainAnswerError)
  })
})
