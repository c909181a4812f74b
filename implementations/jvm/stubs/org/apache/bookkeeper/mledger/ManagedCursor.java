package org.apache.bookkeeper.mledger;

public interface ManagedCursor {
    String getName();

    boolean isDurable();
}
