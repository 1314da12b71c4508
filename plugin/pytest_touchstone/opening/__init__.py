"""What a run opens to the outside, one module each: collection, servers, judge, scorer, prices."""
