import type { Logger } from '../../service/logger.js'
import { stateOfPrivateFile } from '../../service/privateFile.js'
import type { Service } from '../lifetime.js'

/**
 * Warns at the start when the enclave would refuse its own configuration, without reading it: every run would end without
 * a result, and what the enclave says of it is discarded.
 */
export function createEnvFileCheck({ path, logger }: { path: string; logger: Logger }): Service {
  return {
    name: 'enclave configuration',
    async start() {
      const state = await stateOfPrivateFile(path)
      if (state === 'unreadable') {
        logger.warn('ENCLAVE_ENV_FILE cannot be read: no enclave run can succeed')
      }
      if (state === 'shared') {
        logger.warn('ENCLAVE_ENV_FILE can be read by other users, chmod 600 it: no enclave run can succeed')
      }
    },
    async stop() {},
  }
}
