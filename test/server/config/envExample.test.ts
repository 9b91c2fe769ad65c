import { readFileSync } from 'node:fs'
import { parse } from 'dotenv'
import { describe, expect, test } from 'vitest'
import { readConfig } from '../../../src/server/config/config.js'
import { environmentSchema } from '../../../src/server/config/schema.js'
import { ConfigError, differencesOf } from '../../../src/service/config.js'

const file = readFileSync(new URL('../../../.env.example', import.meta.url), 'utf8')

describe('.env.example', () => {
  test('as it stands leaves only what is empty to fill in, and its defaults are valid', () => {
    const uncommented = file.replace(/^# ([A-Z][A-Z0-9_]*=)/gm, '$1')
    const variables = parse(uncommented)
    const empty = Object.keys(variables).filter((name) => variables[name] === '')
    try {
      readConfig(variables)
      expect.unreachable()
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      expect(empty).toEqual(expect.arrayContaining(error.faults.map(({ name }) => name)))
      expect(error.faults.every(({ problem }) => problem === 'is missing')).toBe(true)
    }
  })
})

describe('the settings that differ from it', () => {
  const changed = {
    PORT: '9000',
    HOST: '127.0.0.1',
    FRONTEND_ORIGIN: 'https://desk.example',
    REQUEST_TIMEOUT: '1m',
  }

  test('is named with its value and the usual one', () => {
    expect(differencesOf(environmentSchema, changed)).toEqual([
      'PORT=9000 [8000]',
      'HOST=127.0.0.1 [unset]',
      'FRONTEND_ORIGIN=https://desk.example [required]',
      'REQUEST_TIMEOUT=1m [30s]',
    ])
  })

  test('is no default, no secret, and nothing that each installation fills in', () => {
    const own = { RELAY_AUTH_TOKEN: 'token', DATABASE_URL: 'postgres://u:p@host/db', ENCLAVE_SIGNER: '0x12' }
    expect(differencesOf(environmentSchema, { ...parse(file), MAX_UNDER_WAY: '3000', ...own })).toEqual([])
  })
})
