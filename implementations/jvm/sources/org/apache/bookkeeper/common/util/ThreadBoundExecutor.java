package org.apache.bookkeeper.common.util;

/** What Pulsar 5.0 runs its tasks on. No released jar has it. */
public interface ThreadBoundExecutor {

    void execute(Runnable task);

    void executeOrRun(Runnable task);
}
