"""Traces of released bucket trackers that few walks come to."""

RARE = {
    "a load puts another one in front of what is handed out": "bucket-5.0 tick=100 strict=false; add 0 0 +101; "
    "add 1 0 +111; mark 1 0; storage 1; add 2 0 +101; adv 1099; get 1; add 0 0 +1200; mark 0 0; adv 1; get 1",
    "a merged bucket cannot be stored after a close, under a clear": "bucket-5.0 time_step=0 max_buckets=1; "
    "add 0 0 +1; storage 1; add 0 1 +1; add 1 0 +1; storage 0; add 1 1 +1; add 2 0 +1; complete 0; fail 0; complete 0; "
    "clear; complete 0; stored 0; fail 0; stored 0; reopen; stored 0",
    "what a seal has cut off a bucket is trimmed": "bucket-5.0 min_index_count=5 time_step=1 max_buckets=1; "
    "add 4 0 +1; add 4 1 +1; add 4 2 +1; add 4 3 +1; storage 1; add 4 4 +2; add 5 0 +1; crash; add 0 0 +1; add 0 1 +1; "
    "add 1 0 +1; add 1 1 +1; add 2 0 +2; add 3 0 +1; mark 4 0; add 5 0 +1; add 5 1 +1; add 6 0 +1; add 6 1 +1; "
    "add 7 0 +1",
    "a part of a bucket is trimmed where another one lies in its range": "bucket-4.2 max_buckets=1; add 1 0 +1; "
    "storage 1; add 2 0 +1; add 3 0 +1; crash; add 0 0 +1; add 3 0 +1; add 4 0 +1; crash; add 1 0 +1; add 2 0 +1; "
    "mark 2 0; add 4 0 +1",
    "the last entry id of 32 bits is in the bitmaps, and is not found there": "bucket-4.2 min_index_count=1; "
    "add 0 4294967295 +1; contains 0 4294967295; add 0 4294967295 +11; add 1 0 +1; complete 0; complete 0; crash; "
    "adv 20; get 5; complete 0; get 5",
    "it is not found in those of 4.0.8 either": "bucket-2025 min_index_count=1; add 0 4294967295 +1; "
    "add 0 4294967295 +0; contains 0 4294967295; add 0 4294967295 +11; add 1 0 +1; complete 0; complete 0; crash",
    "the last entry id of 32 bits is one as any other in 5.0.1": "bucket-5.0 min_index_count=1; add 0 4294967295 +1; "
    "contains 0 4294967295; add 0 4294967295 +11; add 1 0 +1; complete 0; complete 0; crash",
    "sources stay where their merged bucket cannot be stored after a close": "bucket-4.2 min_index_count=1 time_step=0 "
    "max_buckets=1; add 0 0 +1; add 0 1 +1; add 0 2 +1; add 1 2 +1; add 1 0 +1; add 1 1 +1; complete 0; add 2 0 +1; "
    "add 3 0 +1; stored 0; complete 0; complete 1; add 4 0 +1; add 5 0 +1; complete 3; complete 3; reopen; fail 3; "
    "fail 3; fail 3; fail 3",
}
"""What comes up in one of several thousand walks, or fewer, seen on the class of the release."""
