// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";

import {Owned} from "./Owned.sol";

/**
 * @title What the three enclave-authorized contracts share: the signer, its rotation, and one use per digest.
 *
 * @dev The enclave holds a signing key and no gas. It signs EIP-712 authorizations in the domain
 * `{name: <contract name>, version: "1", chainId, verifyingContract}`; anyone may carry one to the chain,
 * and each digest takes effect once. Signatures are 65 bytes (r ‖ s ‖ v), low-s, v 27 or 28.
 *
 * The signer is rotated by the owner in two steps, both the owner's: the enclave's key never has to
 * sign anything but authorizations, or to send a transaction. The second step repeats the address, so a slip in
 * one of them changes nothing. A digest stays used across a rotation, and whatever the old key signed but nobody
 * relayed is void.
 */
abstract contract EnclaveAuthorized is EIP712, Owned {
    /// @notice The address whose signature authorizes.
    address public enclaveSigner;

    /// @notice The address proposed as the next signer, zero when there is none.
    address public pendingEnclaveSigner;

    /// @notice Whether the authorization with this EIP-712 digest has taken effect.
    mapping(bytes32 digest => bool) public usedDigest;

    /// @notice The signature recovers to `got`, not to the enclave's signer `expected`.
    error InvalidSigner(address expected, address got);

    /// @notice The authorization with this digest has already taken effect.
    error DigestUsed(bytes32 digest);

    /// @notice The owner confirms `got`, but proposed `pending`.
    error SignerNotProposed(address pending, address got);

    /// @notice An address that must not be zero is zero.
    error ZeroAddress();

    constructor(string memory name, address owner_, address enclaveSigner_) EIP712(name, "1") Owned(owner_) {
        require(enclaveSigner_ != address(0), ZeroAddress());
        enclaveSigner = enclaveSigner_;
    }

    /**
     * @notice First step of a rotation. Replaces an earlier proposal; the zero address withdraws it.
     *
     * Requirements:
     * - the caller is the owner.
     */
    function proposeEnclaveSigner(address signer) external onlyOwner {
        pendingEnclaveSigner = signer;
    }

    /**
     * @notice Second step of a rotation: from now on only `signer` authorizes.
     *
     * Requirements:
     * - the caller is the owner;
     * - `signer` is the one proposed, and not zero.
     */
    function confirmEnclaveSigner(address signer) external onlyOwner {
        require(signer != address(0), ZeroAddress());
        require(signer == pendingEnclaveSigner, SignerNotProposed(pendingEnclaveSigner, signer));
        enclaveSigner = signer;
        pendingEnclaveSigner = address(0);
    }

    /// @dev Checks the signature over `digest` and uses the digest up. Runs before anything else in each
    /// authorized function, so a replay always reverts with {DigestUsed}, whatever has changed since.
    function _authorize(bytes32 digest, bytes calldata signature) internal {
        address got = ECDSA.recoverCalldata(digest, signature);
        require(got == enclaveSigner, InvalidSigner(enclaveSigner, got));
        require(!usedDigest[digest], DigestUsed(digest));
        usedDigest[digest] = true;
    }
}
