"""Limits of sign-in attempts."""

from rubricate.store import people
from rubricate.store import tables as t
from rubricate.store.database import Database


def test_the_wait_grows_and_ends_with_the_right_password(database: Database) -> None:
    def attempt(name: str = "ada", address: str = "192.0.2.1") -> int:
        return database.write(lambda c: people.begin_attempt(c, name, address))

    waits = []
    for _ in range(people.FREE_ATTEMPTS + 12):
        assert attempt() == 0
        if wait := attempt():
            waits.append(wait)
        over = t.attempt.update().values(until=t.attempt.c.until - wait - 1)
        database.write(lambda c, o=over: c.execute(o))
    assert waits[0] <= 1000 and waits[6] > 30_000
    assert waits[-1] <= people.LONGEST_WAIT
    database.write(lambda c: people.forget_attempts(c, "ada", "192.0.2.1"))
    assert attempt() == attempt() == 0
    # All addresses of one network of IPv6 are one.
    for host in range(1, people.FREE_ATTEMPTS + 1):
        assert attempt("bob", f"2001:db8::{host}") == 0
    assert attempt("bob", "2001:db8::99") > 0
    assert attempt("bob", "2001:db8:1::1") == 0
    kept = database.read(lambda c: str(c.execute(t.attempt.select()).all()))
    assert "bob" not in kept
