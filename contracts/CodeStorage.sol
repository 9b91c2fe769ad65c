// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {Errors as Deployment} from "@openzeppelin/contracts/utils/Errors.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";

/**
 * @title Bytes stored as the code of contracts that do nothing.
 *
 * @dev New storage costs 22,100 gas for 32 bytes, code 200 a byte and 32,000 a contract. A contract's code begins with
 * STOP, so that nobody can run what follows.
 */
library CodeStorage {
    /// @dev EIP-170 allows 24,576 bytes, STOP included.
    uint256 private constant MAX_CHUNK = 24_575;

    /// @dev Creation code: returns all that stands behind its eleven bytes, the first of which is STOP.
    bytes12 private constant CREATION = 0x600b5981380380925939f300;

    /// @dev Appends `data` to what `chunks` store.
    function append(address[] storage chunks, bytes calldata data) internal {
        for (uint256 from = 0; from < data.length; from += MAX_CHUNK) {
            bytes memory creation = bytes.concat(CREATION, data[from:Math.min(from + MAX_CHUNK, data.length)]);
            address chunk;
            assembly ("memory-safe") {
                chunk := create(0, add(creation, 32), mload(creation))
            }
            require(chunk != address(0), Deployment.FailedDeployment());
            chunks.push(chunk);
        }
    }

    /// @dev All that `chunks` store.
    function read(address[] storage chunks) internal view returns (bytes memory data) {
        uint256 length;
        for (uint256 i = 0; i < chunks.length; i++) {
            length += chunks[i].code.length - 1;
        }
        data = new bytes(length);
        uint256 offset = 32;
        for (uint256 i = 0; i < chunks.length; i++) {
            address chunk = chunks[i];
            uint256 size = chunk.code.length - 1;
            assembly ("memory-safe") {
                extcodecopy(chunk, add(data, offset), 1, size)
            }
            offset += size;
        }
    }
}
